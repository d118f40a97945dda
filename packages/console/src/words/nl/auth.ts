import type { Words } from '../en'

export const auth: Words['auth'] = {
  signedInAs: 'Je bent ingelogd als',
  goOn: 'Doorgaan',
  signInAt: 'Inloggen met',
  or: 'of',
  useToken: 'Een toegangstoken gebruiken',
  signInByToken: 'Inloggen met het token',
  sendCode: 'Code sturen',
  codeSent: 'We hebben een code gestuurd naar',
  codeHint: 'Die komt aan als het adres van een lid is, en werkt 10 minuten.',
  code: 'Code',
  codeRefused: 'Deze code is onjuist, gebruikt of verlopen.',
  sendAgain: 'Nog een code sturen',
  otherAddress: 'Een ander adres gebruiken',
  linkQuestion: 'Inloggen met de link die je hebt geopend? Hij werkt één keer.',
  tokenQuestion: 'Inloggen als',
  stay: 'Ingelogd blijven',
  otherWay: 'Op een andere manier inloggen',
  signingIn: 'Je wordt ingelogd …',
  otherTab: 'Deze inlog begon in een ander tabblad of is voorbij. Log opnieuw in.',
  providerFailed:
    'De identiteitsprovider heeft je niet ingelogd. Probeer het opnieuw, of vraag het aan de beheerder van deze dienst.',
  providerRefused: 'De identiteitsprovider weigerde je in te loggen.',
  sessionGoesOn:
    'Je bent hier uitgelogd, maar de dienst heeft je sessie niet beëindigd. Die eindigt vanzelf binnen 12 uur.',
  expired: 'Je sessie is verlopen',
  expiredHint: 'Wat je hebt ingevuld staat er nog. Log opnieuw in op een nieuw tabblad en ga daarna hier verder.',
  leavePage: 'Deze pagina verlaten',
  signInNewTab: 'Inloggen op een nieuw tabblad',
}
