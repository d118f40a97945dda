import type { Words } from '../en'

export const auth: Words['auth'] = {
  signedInAs: 'Du är inloggad som',
  goOn: 'Fortsätt',
  signInAt: 'Logga in med',
  or: 'eller',
  useToken: 'Använd en åtkomsttoken',
  signInByToken: 'Logga in med token',
  sendCode: 'Skicka en kod',
  codeSent: 'Vi har skickat en kod till',
  codeHint: 'Den kommer om adressen tillhör en medlem och gäller i 10 minuter.',
  code: 'Kod',
  codeRefused: 'Koden är fel, använd eller har gått ut.',
  sendAgain: 'Skicka en ny kod',
  otherAddress: 'Använd en annan adress',
  linkQuestion: 'Vill du logga in med länken som du öppnade? Den fungerar en gång.',
  tokenQuestion: 'Vill du logga in som',
  stay: 'Förbli inloggad',
  otherWay: 'Logga in på ett annat sätt',
  signingIn: 'Du loggas in …',
  otherTab: 'Den här inloggningen började i en annan flik eller är över. Logga in igen.',
  providerFailed: 'Identitetsleverantören loggade inte in dig. Försök igen eller fråga den som driver tjänsten.',
  providerRefused: 'Identitetsleverantören nekade inloggningen.',
  sessionGoesOn:
    'Du är utloggad här, men tjänsten avslutade inte din session. Den tar slut av sig själv inom 12 timmar.',
}
