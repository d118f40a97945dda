import type { Words } from '../en'

export const auth: Words['auth'] = {
  signedInAs: 'Zalogowano jako',
  goOn: 'Dalej',
  signInAt: 'Zaloguj się przez',
  or: 'lub',
  useToken: 'Użyj tokenu dostępu',
  signInByToken: 'Zaloguj się tokenem',
  sendCode: 'Wyślij kod',
  codeSent: 'Wysłaliśmy kod na adres',
  codeHint: 'Dotrze, jeśli adres należy do członka zespołu, i działa przez 10 minut.',
  code: 'Kod',
  codeRefused: 'Ten kod jest błędny, został już użyty albo wygasł.',
  sendAgain: 'Wyślij nowy kod',
  otherAddress: 'Użyj innego adresu',
  linkQuestion: 'Zalogować się otwartym linkiem? Działa on jeden raz.',
  tokenQuestion: 'Zalogować się jako',
  stay: 'Pozostań przy tym koncie',
  otherWay: 'Zaloguj się inaczej',
  signingIn: 'Logowanie …',
  otherTab: 'To logowanie zaczęło się w innej karcie albo już się skończyło. Zaloguj się ponownie.',
  providerFailed:
    'Dostawca tożsamości nie zalogował Cię. Spróbuj ponownie lub zapytaj osobę, która prowadzi tę usługę.',
  providerRefused: 'Dostawca tożsamości odmówił zalogowania.',
  sessionGoesOn: 'Wylogowano tutaj, ale usługa nie zakończyła Twojej sesji. Skończy się sama w ciągu 12 godzin.',
}
