import type { Language } from '../../../domain/languages.ts'

/** What is wrong with a form that a visitor sent. */
export const signupFaults = ['email_invalid', 'consent_missing', 'consent_required', 'consent_unknown'] as const
export type SignupFault = (typeof signupFaults)[number]

interface SignupWords {
  /** The title of a form that has none. */
  title: string
  intro: (organisation: string) => string
  email: string
  send: string
  /** Says what happens after sending. */
  next: string
  trap: string
  faults: Record<SignupFault, string>
  sentTitle: string
  sent: string
  noMail: string
  tooMany: string
  closed: string
  back: string
}

const en: SignupWords = {
  title: 'Sign up',
  intro: (organisation) => `${organisation} asks for your consent to the following:`,
  email: 'E-mail address',
  send: 'Sign up',
  next: 'We send you an e-mail with a link. Your consent counts once you confirm it there.',
  trap: 'Leave this field empty',
  faults: {
    email_invalid: 'This is not an e-mail address. Please check it.',
    consent_missing: 'Please choose what you agree to.',
    consent_required: 'You can only sign up if you agree to everything that is marked as required.',
    consent_unknown: 'This form has changed since you opened it. Please check your choices again.',
  },
  sentTitle: 'Please look into your mailbox',
  sent: 'If we may write to this address, an e-mail with a link is on its way. Open the link within 7 days to confirm.',
  noMail: 'No e-mail after a few minutes? Look among your spam, or sign up again in an hour.',
  tooMany: 'Too many people are signing up at the moment. Please try again in an hour.',
  closed: 'This form is closed.',
  back: 'Back to the form',
}

const da: SignupWords = {
  title: 'Tilmelding',
  intro: (organisation) => `${organisation} beder om dit samtykke til følgende:`,
  email: 'E-mailadresse',
  send: 'Tilmeld',
  next: 'Vi sender dig en e-mail med et link. Dit samtykke gælder først, når du bekræfter det der.',
  trap: 'Lad dette felt være tomt',
  faults: {
    email_invalid: 'Dette er ikke en e-mailadresse. Se den venligst efter.',
    consent_missing: 'Vælg venligst, hvad du siger ja til.',
    consent_required: 'Du kan kun tilmelde dig, hvis du siger ja til alt, hvad der er markeret som påkrævet.',
    consent_unknown: 'Formularen er ændret, siden du åbnede den. Se dine valg igennem igen.',
  },
  sentTitle: 'Se i din indbakke',
  sent: 'Hvis vi må skrive til adressen, er en e-mail med et link på vej. Åbn linket inden 7 dage for at bekræfte.',
  noMail: 'Ingen e-mail efter nogle minutter? Se i din spam, eller tilmeld dig igen om en time.',
  tooMany: 'Der er for mange tilmeldinger lige nu. Prøv venligst igen om en time.',
  closed: 'Formularen er lukket.',
  back: 'Tilbage til formularen',
}

const se: SignupWords = {
  title: 'Anmälan',
  intro: (organisation) => `${organisation} ber om ditt samtycke till följande:`,
  email: 'E-postadress',
  send: 'Anmäl',
  next: 'Vi skickar dig ett e-postmeddelande med en länk. Ditt samtycke gäller först när du bekräftar det där.',
  trap: 'Lämna det här fältet tomt',
  faults: {
    email_invalid: 'Det här är ingen e-postadress. Kontrollera den.',
    consent_missing: 'Välj vad du samtycker till.',
    consent_required: 'Du kan bara anmäla dig om du samtycker till allt som är markerat som obligatoriskt.',
    consent_unknown: 'Formuläret har ändrats sedan du öppnade det. Gå igenom dina val igen.',
  },
  sentTitle: 'Titta i din inkorg',
  sent: 'Om vi får skriva till adressen är ett e-postmeddelande med en länk på väg. Öppna länken inom 7 dagar för att bekräfta.',
  noMail: 'Inget meddelande efter några minuter? Titta bland skräpposten, eller anmäl dig igen om en timme.',
  tooMany: 'Det är för många anmälningar just nu. Försök igen om en timme.',
  closed: 'Formuläret är stängt.',
  back: 'Tillbaka till formuläret',
}

const nl: SignupWords = {
  title: 'Aanmelden',
  intro: (organisation) => `${organisation} vraagt uw toestemming voor het volgende:`,
  email: 'E-mailadres',
  send: 'Aanmelden',
  next: 'Wij sturen u een e-mail met een link. Uw toestemming geldt pas wanneer u die daar bevestigt.',
  trap: 'Laat dit veld leeg',
  faults: {
    email_invalid: 'Dit is geen e-mailadres. Controleer het alstublieft.',
    consent_missing: 'Kies alstublieft waarmee u instemt.',
    consent_required: 'U kunt zich alleen aanmelden als u instemt met alles wat als verplicht is gemarkeerd.',
    consent_unknown: 'Dit formulier is veranderd sinds u het opende. Controleer uw keuzes nog eens.',
  },
  sentTitle: 'Kijk alstublieft in uw mailbox',
  sent: 'Als wij naar dit adres mogen schrijven, is er een e-mail met een link onderweg. Open de link binnen 7 dagen om te bevestigen.',
  noMail: 'Na een paar minuten nog geen e-mail? Kijk bij uw spam, of meld u over een uur opnieuw aan.',
  tooMany: 'Er zijn op dit moment te veel aanmeldingen. Probeer het over een uur opnieuw.',
  closed: 'Dit formulier is gesloten.',
  back: 'Terug naar het formulier',
}

const pl: SignupWords = {
  title: 'Zapisy',
  intro: (organisation) => `${organisation} prosi o Twoją zgodę na to, co poniżej:`,
  email: 'Adres e-mail',
  send: 'Zapisz się',
  next: 'Wyślemy wiadomość e-mail z linkiem. Zgoda obowiązuje dopiero po potwierdzeniu.',
  trap: 'Pozostaw to pole puste',
  faults: {
    email_invalid: 'To nie jest adres e-mail. Prosimy go sprawdzić.',
    consent_missing: 'Prosimy wybrać zgodę.',
    consent_required: 'Zapisać się można tylko po wyrażeniu wszystkich zgód oznaczonych jako wymagane.',
    consent_unknown: 'Formularz zmienił się od jego otwarcia. Prosimy jeszcze raz sprawdzić wybór.',
  },
  sentTitle: 'Prosimy zajrzeć do skrzynki',
  sent: 'Jeśli możemy pisać na ten adres, wiadomość e-mail z linkiem jest już w drodze. Aby potwierdzić, otwórz link w ciągu 7 dni.',
  noMail: 'Brak wiadomości po kilku minutach? Zajrzyj do spamu albo zapisz się ponownie za godzinę.',
  tooMany: 'W tej chwili zapisuje się zbyt wiele osób. Prosimy spróbować ponownie za godzinę.',
  closed: 'Formularz jest zamknięty.',
  back: 'Powrót do formularza',
}

export const signupWords: Readonly<Record<Language, SignupWords>> = { en, da, se, nl, pl }

/** The mark of a consent that is required. */
export const requiredMark: Readonly<Record<Language, string>> = {
  en: 'required',
  da: 'påkrævet',
  se: 'obligatoriskt',
  nl: 'verplicht',
  pl: 'wymagane',
}
