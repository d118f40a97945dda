import type { Alias, AliasRank } from './alias.ts'

const list = (lines: readonly string[]): string[] => lines.flatMap((line) => line.split(',').map((text) => text.trim()))

/** Names of a field of a person, one line a language: English, Danish, German, Swedish, Dutch, Polish. */
const fields: Readonly<Record<string, readonly string[]>> = {
  email: list([
    'email,email address,mail,mail address,e-mail',
    'email adresse,mailadresse',
    'email adresse,mail adresse',
    'epost,epostadress,mejl,mejladress,mailadress',
    'emailadres,mailadres',
    'adres email,adres mailowy,adres e-mail,poczta',
  ]),
  phone_number: list([
    'phone,phone number,phone no,telephone,telephone number,mobile,mobile phone,mobile number,mobile no,cell phone,cell,cellphone,cell phone number,tel,mobile phone number',
    'telefon,telefonnummer,telefonnr,tlf,tlf nr,tlfnr,mobil,mobilnummer,mobilnr,mobiltelefon',
    'telefon,telefonnummer,handy,handynummer,mobilnummer,rufnummer,mobiltelefon,tel nr',
    'telefon,telefonnummer,mobil,mobilnummer,mobiltelefon',
    'telefoon,telefoonnummer,mobiel,mobiel nummer,mobiele nummer,gsm,telefoonnr',
    'telefon,numer telefonu,nr telefonu,telefon komórkowy,komórka,tel komórkowy',
  ]),
  first_name: list([
    'first name,given name,forename,fname,first names',
    'fornavn',
    'vorname,rufname',
    'förnamn,tilltalsnamn',
    'voornaam',
    'imię',
  ]),
  last_name: list([
    'last name,surname,family name,lname',
    'efternavn,etternavn',
    'nachname,familienname,zuname',
    'efternamn',
    'achternaam,familienaam',
    'nazwisko',
  ]),
  full_name: list([
    'full name,first and last name,name and surname,fullname',
    'fulde navn,hele navnet,for og efternavn,fuldt navn',
    'vollständiger name,vor und nachname,vor und zuname,name vollständig',
    'fullständigt namn,hela namnet,för och efternamn',
    'volledige naam,voor en achternaam',
    'imię i nazwisko,nazwisko i imię,imię nazwisko,pełne imię i nazwisko',
  ]),
}

/** The word for a name alone: whose it is, and whether all of it, only its values and neighbours say. */
const bareNames = list(['name,navn,namn,naam'])

const buyers = list([
  'buyer,customer,purchaser,booker,payer,order,orderer,contact,contact person,client',
  'køber,købers,kunde,kundens,kunden,bestiller,bestillers,kontakt,kontaktperson',
  'käufer,käufers,besteller,bestellers,kunde,kunden,kundin,auftraggeber,buchender',
  'köpare,köparens,kund,kundens,beställare,beställarens',
  'koper,klant,besteller,koper van,klanten,van de koper',
  'kupującego,klienta,zamawiającego,nabywcy,kupujący,klient',
])
const holders = list([
  'attendee,ticket holder,holder,participant,guest,visitor,ticketholder,delegate',
  'deltager,deltagers,deltagerens,billetindehaver,gæst,gæstens,billetholder',
  'teilnehmer,teilnehmers,teilnehmerin,teilnehmende,ticketinhaber,besucher,gast,gäste',
  'deltagare,deltagarens,biljettinnehavare,gäst,besökare',
  'deelnemer,bezoeker,tickethouder,gast,kaarthouder',
  'uczestnika,uczestnik,posiadacza biletu,gościa,gość',
])
const billing = list([
  'billing,invoice,bill to,billing contact,invoice address',
  'fakturering,fakturerings,faktura,fakturaadresse',
  'rechnung,rechnungs,rechnungsadresse,rechnungsempfänger',
  'fakturerings,faktura,fakturaadress,fakturamottagare',
  'factuur,factuuradres,facturatie',
  'do faktury,faktura,na fakturze',
])

/** A qualifier can stand before the field, as in `Buyer email`, or behind it, as in `Email (buyer)`. */
const qualified = (words: readonly string[], field: string, target: string, rank: AliasRank): Alias[] =>
  words.flatMap((word) =>
    [...(fields[field] ?? []), ...(field === 'full_name' ? bareNames : [])].flatMap((name) => [
      { text: `${word} ${name}`, target, rank },
      { text: `${name} ${word}`, target, rank },
    ]),
  )

const holderFields = ['email', 'first_name', 'last_name', 'full_name']

export const personAliases: readonly Alias[] = Object.keys(fields).flatMap((field) => [
  ...(fields[field] ?? []).map((text): Alias => ({ text, target: `customer.${field}`, rank: 'plain' })),
  ...qualified(buyers, field, `customer.${field}`, 'specific'),
  ...qualified(billing, field, `customer.${field}`, 'indirect'),
  ...(holderFields.includes(field) ? qualified(holders, field, `item.user.${field}`, 'specific') : []),
])

export const bareNameAliases: readonly Alias[] = bareNames.map((text) => ({
  text,
  target: 'customer.full_name',
  rank: 'vague',
}))

/** Words for people that mean their names, if the values are names. */
const buyersAlone = list([
  'buyer,customer,purchaser,booker,booked by,ordered by,client',
  'køber,kunde,kunden,bestiller,kontaktperson',
  'käufer,besteller,kundin,name vorname,nachname vorname,name und vorname',
  'köpare,kund,beställare,efternamn förnamn',
  'koper,klant,naam voornaam,achternaam voornaam',
  'kupujący,klient,zamawiający',
  'last name first name,surname first name,efternavn fornavn',
])
const holdersAlone = list([
  'attendee,ticket holder,participant,guest,ticketholder,delegate',
  'deltager,billetindehaver,gæst',
  'teilnehmer,teilnehmerin,ticketinhaber',
  'deltagare,biljettinnehavare',
  'deelnemer,tickethouder',
  'uczestnik,posiadacz biletu',
])

const named = (words: readonly string[], target: string): Alias[] =>
  words.map((text) => ({ text, target, rank: 'indirect', values: 'people' }))

export const personWordAliases: readonly Alias[] = [
  ...named(buyersAlone, 'customer.full_name'),
  ...named(holdersAlone, 'item.user.full_name'),
  { text: 'first', target: 'customer.first_name', rank: 'vague' },
  { text: 'last', target: 'customer.last_name', rank: 'vague' },
]

/** First names of languages in which the bare word for a name beside it is the last name. */
export const firstNamesBesideName: ReadonlySet<string> = new Set(['vorname', 'voornaam'])
