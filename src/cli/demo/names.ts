// Names of the demo's people and places. People's names are keys of nodes, so each is given once.

import type { Random } from './random.ts';

const FIRST_NAMES = `
  Ada Adam Aiko Alba Alice Amara Amina Amir Anders Anita Anna Anton Aya Bela Ben Bianca Bilal Boris Carla Carlos
  Chen Chiara Clara Dana Daniel Daria David Deniz Diego Dilan Dina Dora Edith Elena Eli Elif Emeka Emil Emma Enzo Erik
  Eva Fatima Felix Fiona Flora Frida Gabriel Georg Gita Hana Hannah Hasan Helen Hugo Ibrahim Ida Igor Imani Ines Irina
  Isaac Ivan Jakob Jana Jin Joao Jonas Jose Julia Kamal Karim Kenji Kofi Lars Layla Lea Leila Leon Lin Lucia Luis Luka
  Mai Malik Marco Maria Marta Mateo Maya Mei Mila Mina Miriam Mohamed Nadia Naomi Nils Nina Noah Nora Olga Omar Oscar
  Paula Pavel Pedro Petra Priya Rafael Raj Rania Rosa Ruth Salma Samir Sana Sara Selim Simon Sofia Sven Tamar Tariq
  Teresa Thomas Tina Tomas Uma Vera Victor Wanda Wei Yara Yasmin Yuki Yusuf Zara Zoe`
  .trim()
  .split(/\s+/);

const LAST_NAMES = `
  Abbas Adams Ahmed Akman Ali Almeida Alvarez Andersen Aoki Arslan Asante Bakker Banerjee Barbosa Bauer Becker Bello
  Berg Bianchi Bishop Blanc Boateng Bondar Borg Brandt Braun Brook Campos Cardoso Carter Castro Cerny Chan Chavez Cohen
  Collins Conti Cooper Costa Cruz Dahl Danso Das Delgado Demir Diallo Diaz Dimitrov Duarte Dubois Duran Eklund Erdem
  Espinoza Evans Farah Farkas Ferrari Fischer Flores Fontana Foster Fournier Franco Fujita Garcia Gerber Ghosh Gomez
  Graf Greco Gruber Gupta Haas Haddad Hall Hansen Hassan Hoffman Holm Horvat Huang Hughes Ibarra Ito Ivanov Jansen
  Jensen Jimenez Johansson Jones Joshi Kaplan Kato Kaya Keller Khan Kim Klein Koch Kovac Kowalski Kumar Lam Lang Larsen
  Leclerc Lee Lehmann Lopez Lund Malik Marin Martin Mbeki Medina Mehta Meier Mendes Mensah Meyer Molina Moreau Moreno
  Mori Morris Moser Moyo Murphy Musa Nagy Nair Navarro Ncube Nguyen Nielsen Novak Ochoa Okafor Olsen Ortega Osei Owusu
  Ozturk Papas Park Patel Perez Petrov Pham Popov Quinn Rahman Ramos Reyes Ricci Rivera Roberts Romano Rossi Roy Ruiz
  Saito Salazar Santos Sato Schmidt Schulz Shah Sharma Silva Singh Sokolov Soto Stein Suarez Suzuki Svoboda Takeda Tan
  Tanaka Thomsen Torres Toure Tran Vargas Vega Vogel Wagner Wang Watanabe Weber Wolf Wong Yamada Yilmaz Young Zhang
  Ziegler Zimmer`
  .trim()
  .split(/\s+/);

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Gives names to people: a first name and a name of the family, and initials if both are taken. */
export class PeopleNames {
  readonly #random: Random;
  /** The number of people by name without initials. */
  readonly #taken = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  family(): string {
    return this.#random.pick(LAST_NAMES);
  }

  /** Returns a name that it has not returned before. */
  next(family: string): string {
    const first = this.#random.pick(FIRST_NAMES);
    const plain = `${first} ${family}`;
    const others = this.#taken.get(plain) ?? 0;
    this.#taken.set(plain, others + 1);
    return others === 0 ? plain : `${first} ${initials(others)} ${family}`;
  }
}

/** Returns `A.` to `Z.` for 1 to 26, then `A. A.`, `A. B.` and so on. */
function initials(count: number): string {
  let text = '';
  for (let left = count; left > 0; left = Math.floor((left - 1) / LETTERS.length))
    text = `${LETTERS[(left - 1) % LETTERS.length]}. ${text}`;
  return text.trimEnd();
}

export const DISTRICTS: readonly [string, ...string[]] = [
  'Harbour',
  'Old Town',
  'Northgate',
  'Mill Quarter',
  'Riverside',
  'Hillside',
];

/** Names of streets; companies and schools have them too. */
const STREETS = `
  Acorn Alder Apple Ash Baker Barley Beech Birch Bramble Bridge Canal Castle Cedar Chapel Cherry Chestnut Clover Copper
  Crane Cypress Elm Falcon Fern Field Fountain Garden Granary Hawthorn Hazel Heron Holly Ivy Juniper Lark Laurel Lime
  Linden Maple Market Meadow Mill Mint Olive Orchard Otter Pine Plum Poplar Quarry Rope Rowan Saffron Sand Spring
  Station Swan Thistle Tower Walnut Willow`
  .trim()
  .split(/\s+/);
const STREET_ENDS: readonly [string, ...string[]] = [
  'Street',
  'Lane',
  'Road',
  'Row',
  'Walk',
  'Avenue',
  'Close',
  'Hill',
];
const HOMES_OF_A_STREET = 40;

/** Returns the street and the number of a home, which is 1, 2, ...; every home has another name. */
export function homeName(home: number): { name: string; street: number } {
  const street = Math.floor((home - 1) / HOMES_OF_A_STREET);
  const number = ((home - 1) % HOMES_OF_A_STREET) + 1;
  return { name: `${streetName(street)} ${number}`, street };
}

/** Each name with each ending, then the same with a letter, as in `Acorn Street A`. */
function streetName(street: number): string {
  const most = STREETS.length * STREET_ENDS.length;
  const plain = street % most;
  const name = STREETS[plain % STREETS.length]!;
  const end = STREET_ENDS[(plain + Math.floor(plain / STREETS.length)) % STREET_ENDS.length]!;
  const round = Math.floor(street / most);
  return round === 0 ? `${name} ${end}` : `${name} ${end} ${initials(round).replace(/\. ?/g, '')}`;
}

export interface Trade {
  readonly name: string;
  readonly jobs: readonly [string, ...string[]];
}

/** The trades of the companies, which are named like `Heron Clinic`. */
export const TRADES: readonly [Trade, ...Trade[]] = [
  { name: 'Clinic', jobs: ['nurse', 'doctor', 'midwife', 'porter'] },
  { name: 'Bakery', jobs: ['baker', 'driver', 'cashier'] },
  { name: 'Shipyard', jobs: ['welder', 'engineer', 'painter'] },
  { name: 'Bank', jobs: ['clerk', 'analyst', 'lawyer'] },
  { name: 'Press', jobs: ['editor', 'printer', 'reporter'] },
  { name: 'Software', jobs: ['programmer', 'designer', 'tester'] },
  { name: 'Furniture', jobs: ['carpenter', 'upholsterer', 'driver'] },
  { name: 'Gardens', jobs: ['gardener', 'botanist', 'driver'] },
];

/** Returns the name of a company or school, which is 1, 2, ...; all of one ending are different. */
export function siteName(site: number, ending: string): string {
  const name = STREETS[(site * 7) % STREETS.length]!;
  const round = Math.floor(site / STREETS.length);
  return round === 0 ? `${name} ${ending}` : `${name} ${ending} ${round + 1}`;
}
