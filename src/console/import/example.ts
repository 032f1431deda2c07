// A small example file for users who have no file at hand: who met whom, with names.

export const EXAMPLE_NAME = 'meetings_example.csv';

export const EXAMPLE = `time,people,place,minutes
2024-03-01 09:00:00,Ada;Grace;Edsger,Delft,30
2024-03-01 10:00:00,Ada;Barbara,Boston,15
2024-03-02 09:30:00,Grace;Donald;Barbara;Ada,Palo Alto,45
2024-03-04 14:00:00,Edsger;Donald,Austin,20
2024-03-05 09:00:00,Margaret;Ada,Cambridge,60
2024-03-05 11:00:00,Margaret;Grace;Barbara,Boston,25
2024-03-06 16:00:00,Donald;Leslie,Palo Alto,35
2024-03-07 09:00:00,Leslie;Edsger;Margaret;Donald,Austin,50
2024-03-08 12:00:00,Ada;Leslie,Delft,10
2024-03-11 15:00:00,Grace;Margaret;Ada,Boston,40
`;
