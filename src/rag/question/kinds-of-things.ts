// Words for kinds of things, with usual examples of each: "What pets does Ada have?" is answered by
// "the kitten sleeps on my desk". Hardly any turn of a conversation names the kind.
//
// They are added to the words of a question, never to the terms of an index. Each group of the
// table has a kind and usual examples: nouns, and verbs for what is done. A lexicon of all English
// words (WordNet, 34 MB) helps less: most of its examples are rare, or mean something else where
// they are found.

import { analyzerOf } from '../../text/index.ts';

const GROUPS =
  `pet: dog puppy cat kitten hamster rabbit bunny parrot budgie goldfish turtle tortoise snake lizard horse pony
  animal: dog cat horse cow goat sheep pig chicken duck bird rabbit deer fox bear wolf monkey elephant lion whale dolphin turtle
  instrument: piano keyboard guitar ukulele violin viola cello bass drum trumpet trombone saxophone flute clarinet oboe harp banjo mandolin accordion harmonica organ
  sport: football soccer basketball baseball softball tennis volleyball badminton golf hockey cricket rugby swim run marathon climb cycle ski snowboard skate surf row box karate judo
  exercise: run jog swim gym yoga pilates weights bike cycle workout
  hobby: paint draw pottery knit crochet sew garden read write bake cook photography chess craft dance woodworking fishing hike puzzle collect
  activity: hike camp paint draw swim run bike bowl skate pottery cook bake dance yoga fish picnic museum park movie game
  craft: pottery ceramics knit crochet sew quilt embroidery weave woodworking carve candle jewelry origami
  art: paint draw sketch sculpture watercolor mural portrait gallery exhibition photography
  book: novel read author chapter memoir biography audiobook library trilogy|movie: film cinema watch actor director documentary
  film: movie cinema watch actor director documentary|music: song band album concert singer playlist jazz rock classical
  food: pasta pizza soup salad curry bread rice sandwich burger sushi taco stew cheese chicken fish cake cookie chocolate
  dish: pasta pizza soup salad curry roast lasagna casserole risotto stew taco sushi
  dessert: cake pie cookie brownie pudding tart muffin cupcake chocolate|drink: coffee tea wine beer juice cocktail smoothie
  vehicle: car truck van bike bicycle motorcycle scooter bus boat camper
  illness: flu cold cancer diabetes asthma allergy arthritis infection fever migraine pneumonia diagnosed
  disease: cancer diabetes asthma arthritis infection diagnosed
  health: doctor hospital surgery diagnosed diet exercise injury pain blood checkup medication therapy
  injury: broke broken sprain twist torn fracture hurt knee ankle wrist surgery
  family: mother father parent sister brother mom dad daughter son aunt uncle cousin niece nephew grandmother grandfather wife husband
  parent: mother father mom dad|sibling: brother sister twin|relative: aunt uncle cousin niece nephew grandmother grandfather
  child: daughter son baby toddler|job: work boss company office hired career promotion interview manager quit resign
  profession: job nurse teacher doctor engineer lawyer chef artist writer|career: job work company hired promotion business degree
  travel: trip flight fly vacation visit drove hotel airport passport|trip: travel vacation visit flight fly drove hotel
  vacation: trip travel visit flight beach hotel|place: city town country beach mountain lake museum park visit trip travel
  country: italy france spain portugal germany england ireland scotland greece japan china india canada mexico brazil australia
  city: paris london rome berlin madrid barcelona tokyo boston chicago seattle york
  volunteer: charity shelter community donate tutor fundraiser nonprofit|charity: donate fundraiser volunteer shelter raise auction
  furniture: table chair desk bookcase bookshelf shelf stool cabinet bench sofa couch bed dresser
  clothes: dress shirt jacket coat shoe boot hat scarf sweater jeans skirt|flower: rose tulip sunflower daisy lily orchid lavender
  plant: garden flower seed tomato herb tree cactus succulent|vegetable: tomato carrot pepper zucchini potato onion cucumber lettuce
  fruit: apple banana strawberry mango orange peach grape lemon|game: chess board card video console puzzle
  event: concert festival parade party conference workshop wedding fair ceremony reunion|holiday: christmas thanksgiving easter halloween
  competition: race tournament contest championship match medal prize trophy won|award: prize medal trophy won ribbon
  gift: present birthday bought surprise necklace|degree: university college graduate master bachelor diploma
  school: college university class teacher grade|subject: math history science biology chemistry physics geography
  setback: failed reject lost broke injury cancel denied|problem: trouble broke failed issue stuck|goal: hope want plan dream aim
  fear: scared afraid terrified nervous|emotion: happy sad angry nervous proud excited anxious
  religion: church prayer pray faith mosque temple synagogue|language: spanish french german italian portuguese japanese chinese arabic
  home: house apartment rent mortgage move`
    .split(/[|\n]/)
    .map((group) => group.trim().split(/:? /));

/** Examples by the stem of their kind. */
let byStem: ReadonlyMap<string, readonly string[]> | undefined;

/** Returns usual examples of a kind of things, as written; none if a word is no kind. */
export function examplesOf(word: string): readonly string[] {
  const analyzer = analyzerOf('english');
  byStem ??= new Map(GROUPS.map(([kind, ...examples]) => [analyzer.terms(kind!)[0]!, examples]));
  const [stem, second] = analyzer.terms(word);
  return (second === undefined ? byStem.get(stem ?? '') : undefined) ?? [];
}
