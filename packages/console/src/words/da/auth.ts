import type { Words } from '../en'

export const auth: Words['auth'] = {
  signedInAs: 'Du er logget ind som',
  goOn: 'Fortsæt',
  signInAt: 'Log ind med',
  or: 'eller',
  useToken: 'Brug et adgangstoken',
  signInByToken: 'Log ind med tokenet',
  sendCode: 'Send en kode',
  codeSent: 'Vi har sendt en kode til',
  codeHint: 'Den kommer, hvis adressen tilhører et medlem, og gælder i 10 minutter.',
  code: 'Kode',
  codeRefused: 'Koden er forkert, brugt eller udløbet.',
  sendAgain: 'Send en ny kode',
  otherAddress: 'Brug en anden adresse',
  linkQuestion: 'Vil du logge ind med det link, du åbnede? Det virker én gang.',
  tokenQuestion: 'Vil du logge ind som',
  stay: 'Forbliv logget ind',
  otherWay: 'Log ind på en anden måde',
  signingIn: 'Du logges ind …',
  otherTab: 'Dette login begyndte i en anden fane eller er slut. Log ind igen.',
  providerFailed: 'Identitetsudbyderen loggede dig ikke ind. Prøv igen, eller spørg den, der driver tjenesten.',
  providerRefused: 'Identitetsudbyderen afviste at logge dig ind.',
  sessionGoesOn:
    'Du er logget ud her, men tjenesten afsluttede ikke din session. Den slutter af sig selv inden for 12 timer.',
}
