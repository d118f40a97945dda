import { type Language, parseLanguage } from '../../domain/languages.ts'

/** The status of an answer on the page. `outdated`: given to an earlier wording that no longer counts. */
export type PageStatus = 'none' | 'pending' | 'given' | 'outdated' | 'skipped' | 'withdrawn' | 'expired'

interface LinkPageWords {
  title: string
  intro: (organisation: string, address: string) => string
  noConsents: string
  wording: string
  more: string
  save: string
  /** `day` is the day on which the answer got this status. */
  status: Record<PageStatus, (day: string) => string>
  until: (day: string) => string
  /** Says that the e-mail that asks to confirm has not been sent yet. */
  emailWaits: string
  /** Says why the person cannot change a consent on the page. */
  notChangeable: string
  saved: string
  unchanged: string
  stale: string
  unsubscribedNotice: (address: string) => string
  unreachable: (address: string) => string
  /** Says that messages about orders are sent in any case. */
  otherMessages: string
  confirmTitle: string
  confirmIntro: (organisation: string) => string
  confirm: string
  confirmedNotice: (organisation: string) => string
  allConsents: string
  languages: string
}

const en: LinkPageWords = {
  title: 'Your consents',
  intro: (organisation, address) =>
    `Here you see what ${organisation} may do with your consent. The link to this page was sent to ${address}. You can change your mind at any time.`,
  noConsents: 'There is nothing to agree to here.',
  wording: 'Full text',
  more: 'Read more',
  save: 'Save',
  status: {
    none: () => 'You have not agreed.',
    pending: (day) => `Waiting for your confirmation since ${day}.`,
    given: (day) => `You agreed on ${day}.`,
    outdated: (day) =>
      `You agreed on ${day} to an earlier wording. It no longer counts, unless you agree to this wording.`,
    skipped: (day) => `You were asked on ${day} and did not agree.`,
    withdrawn: (day) => `You withdrew your consent on ${day}.`,
    expired: (day) => `It expired on ${day}.`,
  },
  until: (day) => `It is valid until ${day}.`,
  emailWaits: 'The e-mail with the link has not been sent yet.',
  notChangeable: 'This is not based on your consent, so you cannot change it here.',
  saved: 'Your choices are saved.',
  unchanged: 'Nothing was changed.',
  stale: 'This page has changed since you opened it. Nothing was saved. Please check your choices again.',
  unsubscribedNotice: (address) =>
    `You have unsubscribed ${address} from news and offers. If you agree below to news by this channel, you may receive them again.`,
  unreachable: (address) => `No news and offers are sent to ${address}, whatever you choose here.`,
  otherMessages: 'Messages about your own orders and visits do not depend on these choices.',
  confirmTitle: 'Please confirm',
  confirmIntro: (organisation) => `Do you agree that ${organisation} may do the following?`,
  confirm: 'Yes, I agree',
  confirmedNotice: (organisation) => `Thank you. ${organisation} has your consent.`,
  allConsents: 'All your consents',
  languages: 'Languages',
}

const da: LinkPageWords = {
  title: 'Dine samtykker',
  intro: (organisation, address) =>
    `Her ser du, hvad ${organisation} må med dit samtykke. Linket til denne side blev sendt til ${address}. Du kan altid ombestemme dig.`,
  noConsents: 'Der er intet at give samtykke til her.',
  wording: 'Hele teksten',
  more: 'Læs mere',
  save: 'Gem',
  status: {
    none: () => 'Du har ikke givet samtykke.',
    pending: (day) => `Venter på din bekræftelse siden ${day}.`,
    given: (day) => `Du gav samtykke den ${day}.`,
    outdated: (day) =>
      `Du gav den ${day} samtykke til en tidligere tekst. Det gælder ikke længere, medmindre du siger ja til denne tekst.`,
    skipped: (day) => `Du blev spurgt den ${day} og gav ikke samtykke.`,
    withdrawn: (day) => `Du trak det tilbage den ${day}.`,
    expired: (day) => `Det udløb den ${day}.`,
  },
  until: (day) => `Det gælder til den ${day}.`,
  emailWaits: 'E-mailen med linket er ikke sendt endnu.',
  notChangeable: 'Dette bygger ikke på dit samtykke og kan derfor ikke ændres her.',
  saved: 'Dine valg er gemt.',
  unchanged: 'Intet blev ændret.',
  stale: 'Siden er ændret, siden du åbnede den. Intet blev gemt. Se dine valg igennem igen.',
  unsubscribedNotice: (address) =>
    `Du har afmeldt ${address} fra nyheder og tilbud. Hvis du her siger ja til nyheder ad denne vej, kan de komme igen.`,
  unreachable: (address) => `Der sendes ingen nyheder og tilbud til ${address}, uanset hvad du vælger her.`,
  otherMessages: 'Beskeder om dine egne ordrer og besøg afhænger ikke af disse valg.',
  confirmTitle: 'Bekræft venligst',
  confirmIntro: (organisation) => `Giver du ${organisation} lov til følgende?`,
  confirm: 'Ja, jeg giver samtykke',
  confirmedNotice: (organisation) => `Tak. ${organisation} har nu dit samtykke.`,
  allConsents: 'Alle dine samtykker',
  languages: 'Sprog',
}

const se: LinkPageWords = {
  title: 'Dina samtycken',
  intro: (organisation, address) =>
    `Här ser du vad ${organisation} får göra med ditt samtycke. Länken till den här sidan skickades till ${address}. Du kan när som helst ändra dig.`,
  noConsents: 'Det finns inget att samtycka till här.',
  wording: 'Hela texten',
  more: 'Läs mer',
  save: 'Spara',
  status: {
    none: () => 'Du har inte samtyckt.',
    pending: (day) => `Väntar på din bekräftelse sedan ${day}.`,
    given: (day) => `Du samtyckte den ${day}.`,
    outdated: (day) =>
      `Du samtyckte den ${day} till en tidigare text. Det gäller inte längre, om du inte samtycker till den här texten.`,
    skipped: (day) => `Du fick frågan den ${day} och samtyckte inte.`,
    withdrawn: (day) => `Du återkallade det den ${day}.`,
    expired: (day) => `Det upphörde den ${day}.`,
  },
  until: (day) => `Det gäller till den ${day}.`,
  emailWaits: 'E-postmeddelandet med länken har inte skickats än.',
  notChangeable: 'Detta grundar sig inte på ditt samtycke och kan därför inte ändras här.',
  saved: 'Dina val är sparade.',
  unchanged: 'Inget ändrades.',
  stale: 'Sidan har ändrats sedan du öppnade den. Inget sparades. Gå igenom dina val igen.',
  unsubscribedNotice: (address) =>
    `Du har avslutat prenumerationen på nyheter och erbjudanden till ${address}. Om du här samtycker till nyheter den vägen kan de komma igen.`,
  unreachable: (address) => `Inga nyheter och erbjudanden skickas till ${address}, vad du än väljer här.`,
  otherMessages: 'Meddelanden om dina egna beställningar och besök beror inte på de här valen.',
  confirmTitle: 'Bekräfta',
  confirmIntro: (organisation) => `Samtycker du till att ${organisation} gör följande?`,
  confirm: 'Ja, jag samtycker',
  confirmedNotice: (organisation) => `Tack. ${organisation} har nu ditt samtycke.`,
  allConsents: 'Alla dina samtycken',
  languages: 'Språk',
}

const nl: LinkPageWords = {
  title: 'Uw toestemmingen',
  intro: (organisation, address) =>
    `Hier ziet u wat ${organisation} met uw toestemming mag. De link naar deze pagina is naar ${address} gestuurd. U kunt altijd van gedachten veranderen.`,
  noConsents: 'Hier is niets om mee in te stemmen.',
  wording: 'De volledige tekst',
  more: 'Lees meer',
  save: 'Opslaan',
  status: {
    none: () => 'U hebt geen toestemming gegeven.',
    pending: (day) => `Wacht sinds ${day} op uw bevestiging.`,
    given: (day) => `U hebt op ${day} toestemming gegeven.`,
    outdated: (day) =>
      `U hebt op ${day} met een eerdere tekst ingestemd. Die geldt niet meer, tenzij u met deze tekst instemt.`,
    skipped: (day) => `U bent op ${day} gevraagd en hebt niet ingestemd.`,
    withdrawn: (day) => `U hebt de toestemming op ${day} ingetrokken.`,
    expired: (day) => `De toestemming is op ${day} verlopen.`,
  },
  until: (day) => `De toestemming geldt tot ${day}.`,
  emailWaits: 'De e-mail met de link is nog niet verstuurd.',
  notChangeable: 'Dit berust niet op uw toestemming en kan hier dus niet worden gewijzigd.',
  saved: 'Uw keuzes zijn opgeslagen.',
  unchanged: 'Er is niets gewijzigd.',
  stale: 'Deze pagina is veranderd sinds u haar opende. Er is niets opgeslagen. Controleer uw keuzes nog eens.',
  unsubscribedNotice: (address) =>
    `U hebt ${address} afgemeld voor nieuws en aanbiedingen. Stemt u hier in met nieuws via deze weg, dan kan het weer komen.`,
  unreachable: (address) => `Er gaan geen nieuws en aanbiedingen naar ${address}, wat u hier ook kiest.`,
  otherMessages: 'Berichten over uw eigen bestellingen en bezoeken hangen niet van deze keuzes af.',
  confirmTitle: 'Bevestig alstublieft',
  confirmIntro: (organisation) => `Stemt u ermee in dat ${organisation} het volgende mag?`,
  confirm: 'Ja, ik stem in',
  confirmedNotice: (organisation) => `Bedankt. ${organisation} heeft nu uw toestemming.`,
  allConsents: 'Al uw toestemmingen',
  languages: 'Talen',
}

const pl: LinkPageWords = {
  title: 'Twoje zgody',
  intro: (organisation, address) =>
    `Tu widać, na co pozwala Twoja zgoda udzielona ${organisation}. Link do tej strony wysłano na ${address}. Decyzję można zmienić w każdej chwili.`,
  noConsents: 'Nie ma tu żadnych zgód.',
  wording: 'Pełna treść',
  more: 'Więcej informacji',
  save: 'Zapisz',
  status: {
    none: () => 'Brak zgody.',
    pending: (day) => `Czeka na Twoje potwierdzenie od: ${day}.`,
    given: (day) => `Zgoda udzielona: ${day}.`,
    outdated: (day) =>
      `Zgoda na wcześniejszą treść udzielona: ${day}. Już nie obowiązuje, chyba że zgodzisz się na obecną treść.`,
    skipped: (day) => `Pytanie zadano: ${day}. Zgody nie udzielono.`,
    withdrawn: (day) => `Zgoda wycofana: ${day}.`,
    expired: (day) => `Zgoda wygasła: ${day}.`,
  },
  until: (day) => `Obowiązuje do: ${day}.`,
  emailWaits: 'Wiadomość e-mail z linkiem nie została jeszcze wysłana.',
  notChangeable: 'To nie opiera się na Twojej zgodzie, więc nie można tego tutaj zmienić.',
  saved: 'Twój wybór zapisano.',
  unchanged: 'Nic nie zmieniono.',
  stale: 'Strona zmieniła się od jej otwarcia. Nic nie zapisano. Prosimy jeszcze raz sprawdzić wybór.',
  unsubscribedNotice: (address) =>
    `Adres ${address} został wypisany z wiadomości i ofert. Jeśli zgodzisz się tu na wiadomości tą drogą, mogą znów przychodzić.`,
  unreachable: (address) => `Na ${address} nie są wysyłane wiadomości ani oferty, bez względu na wybór tutaj.`,
  otherMessages: 'Wiadomości o własnych zamówieniach i wizytach nie zależą od tych wyborów.',
  confirmTitle: 'Prosimy o potwierdzenie',
  confirmIntro: (organisation) => `Czy zgadzasz się, aby ${organisation} mogła robić to, co poniżej?`,
  confirm: 'Tak, zgadzam się',
  confirmedNotice: (organisation) => `Dziękujemy. ${organisation} ma teraz Twoją zgodę.`,
  allConsents: 'Wszystkie Twoje zgody',
  languages: 'Języki',
}

export const pageWords: Readonly<Record<Language, LinkPageWords>> = { en, da, se, nl, pl }

/** Returns null when a link asks for no language, or for one that has no texts. */
export const parsePageLanguage = (text: string | undefined): Language | null => parseLanguage(text ?? '')

/** Chooses the language that the link asks for, else the person's, else English. */
export const choosePageLanguage = (text: string | undefined, locale: string): Language =>
  parsePageLanguage(text) ?? parseLanguage(locale) ?? 'en'
