import type { Language } from '../../domain/languages.ts'
import type { SectionName } from './export-sections.ts'

type FieldName =
  | 'email'
  | 'phone_number'
  | 'first_name'
  | 'last_name'
  | 'locale'
  | 'date_joined'
  | 'last_seen'
  | 'created'
  | 'modified'
  | 'status'
  | 'amount'
  | 'currency'
  | 'product'
  | 'order_number'
  | 'address'
  | 'reason'
  | 'language'
  | 'recipient'
  | 'sent_at'
  | 'name'
  | 'content'
  | 'values'
  | 'changes'

interface PageWords {
  title: string
  /** `day` is when the data were read. */
  intro: (day: string) => string
  nothing: string
  yes: string
  no: string
  languages: string
  sections: Readonly<Record<SectionName, string>>
  /** Labels of fields. A field without one is shown by its name in the API. */
  fields: Readonly<Record<FieldName, string>>
}

const en: PageWords = {
  title: 'Your data',
  intro: (day) => `Everything that is stored about you, as of ${day}.`,
  nothing: 'Nothing is stored.',
  yes: 'Yes',
  no: 'No',
  languages: 'Languages',
  sections: {
    user: 'You',
    editions: 'Events you are a customer of',
    earlier_addresses: 'Your earlier addresses',
    merges: 'Customers who were merged with you',
    orders: 'Orders',
    transactions: 'Payments',
    purchases: 'Tickets and other purchases',
    uses: 'Uses of purchases',
    refunds: 'Refunds',
    wallet_passes: 'Wallet passes',
    wallet_phones: 'Phones with a pass',
    consents: 'Consents',
    suppressions: 'Addresses we do not write to',
    bounces: 'Messages that could not be delivered',
    emails: 'E-mails about orders and refunds',
    signups: 'Sign-ups with a form',
    campaigns: 'Newsletters',
    import_rows: 'Rows of imported files',
    changes: 'Changes to your data',
    erasure: 'Erasure',
    campaign_recipients: 'Your data as a recipient of newsletters',
  },
  fields: {
    email: 'E-mail',
    phone_number: 'Phone number',
    first_name: 'First name',
    last_name: 'Last name',
    locale: 'Language',
    date_joined: 'Customer since',
    last_seen: 'Last seen',
    created: 'Created',
    modified: 'Changed',
    status: 'Status',
    amount: 'Amount',
    currency: 'Currency',
    product: 'Product',
    order_number: 'Order number',
    address: 'Address',
    reason: 'Reason',
    language: 'Language',
    recipient: 'Recipient',
    sent_at: 'Sent',
    name: 'Name',
    content: 'Content',
    values: 'Values',
    changes: 'Changes',
  },
}

const da: PageWords = {
  title: 'Dine oplysninger',
  intro: (day) => `Alt, hvad der er gemt om dig, pr. ${day}.`,
  nothing: 'Der er ikke gemt noget.',
  yes: 'Ja',
  no: 'Nej',
  languages: 'Sprog',
  sections: {
    user: 'Dig',
    editions: 'Arrangementer, du er kunde hos',
    earlier_addresses: 'Dine tidligere adresser',
    merges: 'Kunder, der er lagt sammen med dig',
    orders: 'Ordrer',
    transactions: 'Betalinger',
    purchases: 'Billetter og andre køb',
    uses: 'Brug af køb',
    refunds: 'Refusioner',
    wallet_passes: 'Kort i Wallet',
    wallet_phones: 'Telefoner med et kort',
    consents: 'Samtykker',
    suppressions: 'Adresser, vi ikke skriver til',
    bounces: 'Beskeder, der ikke kunne leveres',
    emails: 'E-mails om ordrer og refusioner',
    signups: 'Tilmeldinger med en formular',
    campaigns: 'Nyhedsbreve',
    import_rows: 'Rækker fra importerede filer',
    changes: 'Ændringer af dine oplysninger',
    erasure: 'Sletning',
    campaign_recipients: 'Dine oplysninger som modtager af nyhedsbreve',
  },
  fields: {
    email: 'E-mail',
    phone_number: 'Telefonnummer',
    first_name: 'Fornavn',
    last_name: 'Efternavn',
    locale: 'Sprog',
    date_joined: 'Kunde siden',
    last_seen: 'Sidst set',
    created: 'Oprettet',
    modified: 'Ændret',
    status: 'Status',
    amount: 'Beløb',
    currency: 'Valuta',
    product: 'Vare',
    order_number: 'Ordrenummer',
    address: 'Adresse',
    reason: 'Årsag',
    language: 'Sprog',
    recipient: 'Modtager',
    sent_at: 'Sendt',
    name: 'Navn',
    content: 'Indhold',
    values: 'Værdier',
    changes: 'Ændringer',
  },
}

const se: PageWords = {
  title: 'Dina uppgifter',
  intro: (day) => `Allt som är lagrat om dig, per ${day}.`,
  nothing: 'Ingenting är lagrat.',
  yes: 'Ja',
  no: 'Nej',
  languages: 'Språk',
  sections: {
    user: 'Du',
    editions: 'Evenemang där du är kund',
    earlier_addresses: 'Dina tidigare adresser',
    merges: 'Kunder som har slagits ihop med dig',
    orders: 'Ordrar',
    transactions: 'Betalningar',
    purchases: 'Biljetter och andra köp',
    uses: 'Användning av köp',
    refunds: 'Återbetalningar',
    wallet_passes: 'Kort i Wallet',
    wallet_phones: 'Telefoner med ett kort',
    consents: 'Samtycken',
    suppressions: 'Adresser som vi inte skriver till',
    bounces: 'Meddelanden som inte kunde levereras',
    emails: 'E-post om ordrar och återbetalningar',
    signups: 'Anmälningar med ett formulär',
    campaigns: 'Nyhetsbrev',
    import_rows: 'Rader från importerade filer',
    changes: 'Ändringar av dina uppgifter',
    erasure: 'Radering',
    campaign_recipients: 'Dina uppgifter som mottagare av nyhetsbrev',
  },
  fields: {
    email: 'E-post',
    phone_number: 'Telefonnummer',
    first_name: 'Förnamn',
    last_name: 'Efternamn',
    locale: 'Språk',
    date_joined: 'Kund sedan',
    last_seen: 'Senast sedd',
    created: 'Skapad',
    modified: 'Ändrad',
    status: 'Status',
    amount: 'Belopp',
    currency: 'Valuta',
    product: 'Produkt',
    order_number: 'Ordernummer',
    address: 'Adress',
    reason: 'Orsak',
    language: 'Språk',
    recipient: 'Mottagare',
    sent_at: 'Skickat',
    name: 'Namn',
    content: 'Innehåll',
    values: 'Värden',
    changes: 'Ändringar',
  },
}

const nl: PageWords = {
  title: 'Je gegevens',
  intro: (day) => `Alles wat over je is opgeslagen, per ${day}.`,
  nothing: 'Er is niets opgeslagen.',
  yes: 'Ja',
  no: 'Nee',
  languages: 'Talen',
  sections: {
    user: 'Jij',
    editions: 'Evenementen waarvan je klant bent',
    earlier_addresses: 'Je eerdere adressen',
    merges: 'Klanten die met jou zijn samengevoegd',
    orders: 'Bestellingen',
    transactions: 'Betalingen',
    purchases: 'Tickets en andere aankopen',
    uses: 'Gebruik van aankopen',
    refunds: 'Terugbetalingen',
    wallet_passes: 'Passen in Wallet',
    wallet_phones: 'Telefoons met een pas',
    consents: 'Toestemmingen',
    suppressions: 'Adressen waar we niet naar schrijven',
    bounces: 'Berichten die niet bezorgd konden worden',
    emails: 'E-mails over bestellingen en terugbetalingen',
    signups: 'Aanmeldingen met een formulier',
    campaigns: 'Nieuwsbrieven',
    import_rows: 'Rijen van geïmporteerde bestanden',
    changes: 'Wijzigingen van je gegevens',
    erasure: 'Verwijdering',
    campaign_recipients: 'Je gegevens als ontvanger van nieuwsbrieven',
  },
  fields: {
    email: 'E-mail',
    phone_number: 'Telefoonnummer',
    first_name: 'Voornaam',
    last_name: 'Achternaam',
    locale: 'Taal',
    date_joined: 'Klant sinds',
    last_seen: 'Laatst gezien',
    created: 'Aangemaakt',
    modified: 'Gewijzigd',
    status: 'Status',
    amount: 'Bedrag',
    currency: 'Valuta',
    product: 'Product',
    order_number: 'Bestelnummer',
    address: 'Adres',
    reason: 'Reden',
    language: 'Taal',
    recipient: 'Ontvanger',
    sent_at: 'Verzonden',
    name: 'Naam',
    content: 'Inhoud',
    values: 'Waarden',
    changes: 'Wijzigingen',
  },
}

const pl: PageWords = {
  title: 'Twoje dane',
  intro: (day) => `Wszystko, co jest o Tobie zapisane, stan na ${day}.`,
  nothing: 'Nic nie jest zapisane.',
  yes: 'Tak',
  no: 'Nie',
  languages: 'Języki',
  sections: {
    user: 'Ty',
    editions: 'Wydarzenia, których jesteś klientem',
    earlier_addresses: 'Twoje wcześniejsze adresy',
    merges: 'Klienci połączeni z Tobą',
    orders: 'Zamówienia',
    transactions: 'Płatności',
    purchases: 'Bilety i inne zakupy',
    uses: 'Użycia zakupów',
    refunds: 'Zwroty pieniędzy',
    wallet_passes: 'Karty w Wallet',
    wallet_phones: 'Telefony z kartą',
    consents: 'Zgody',
    suppressions: 'Adresy, na które nie piszemy',
    bounces: 'Wiadomości, których nie udało się dostarczyć',
    emails: 'E-maile o zamówieniach i zwrotach',
    signups: 'Zapisy przez formularz',
    campaigns: 'Newslettery',
    import_rows: 'Wiersze zaimportowanych plików',
    changes: 'Zmiany Twoich danych',
    erasure: 'Usunięcie danych',
    campaign_recipients: 'Twoje dane jako odbiorcy newsletterów',
  },
  fields: {
    email: 'E-mail',
    phone_number: 'Numer telefonu',
    first_name: 'Imię',
    last_name: 'Nazwisko',
    locale: 'Język',
    date_joined: 'Klient od',
    last_seen: 'Ostatnio widziany',
    created: 'Utworzono',
    modified: 'Zmieniono',
    status: 'Status',
    amount: 'Kwota',
    currency: 'Waluta',
    product: 'Produkt',
    order_number: 'Numer zamówienia',
    address: 'Adres',
    reason: 'Powód',
    language: 'Język',
    recipient: 'Odbiorca',
    sent_at: 'Wysłano',
    name: 'Nazwa',
    content: 'Treść',
    values: 'Wartości',
    changes: 'Zmiany',
  },
}

export const exportWords: Readonly<Record<Language, PageWords>> = { en, da, se, nl, pl }
