import { maxParsedLength } from '../../import-cells.ts'
import type { OrderStatus } from '../../../orders/orders.ts'
import { folded } from './folded.ts'

/** The length of the longest compared word. */
const maxWordLength = 200

const wordOf = (text: string): string =>
  text.length > maxWordLength
    ? text
    : folded(text)
        .replaceAll(/[\s_]+/g, ' ')
        .replace(/^[\s"'([#]+/, '')
        .replace(/(?<![\s"')\].!:;])[\s"')\].!:;]+$/, '')

/** Each cell is compared with several lists, one after the other. */
let last = { text: '', word: '' }

/** A cell as it is compared: folded, without punctuation at its ends, with single spaces. */
export function plainWord(text: string): string {
  if (text !== last.text) last = { text, word: wordOf(text) }
  return last.word
}

const wordsOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(',').map((word) => plainWord(word.trim()))))

const yes = wordsOf([
  'yes,y,true,t,1,x,✓,✔,on,checked,accepted,agreed,opted in,opt-in,subscribed',
  'ja,j,sand,accepteret,tilmeldt,wahr,zugestimmt,angemeldet,sant,ja tak,godkänd,waar,akkoord',
  'tak,prawda,zgoda,wyrażam zgodę,zaakceptowano',
])
const no = wordsOf([
  'no,n,false,f,0,off,unchecked,declined,not accepted,opted out,unsubscribed,no thanks',
  'nej,nein,nee,nie,falsk,falsch,falskt,onwaar,fałsz,nej tak,frameldt,afmeldt,abgemeldet,brak zgody',
])

/** Yes or no in English, Danish, German, Swedish, Dutch and Polish, or null. */
export function readBoolean(text: string): boolean | null {
  const word = plainWord(text)
  if (yes.has(word)) return true
  return no.has(word) ? false : null
}

const free = wordsOf(['free,free of charge,gratis,kostenlos,kostenfrei,darmowy,darmowe,bezpłatny,bezpłatne,bezpłatnie'])

/** Whether a cell says in a word that something costs nothing. */
export const isFree = (text: string): boolean => free.has(plainWord(text))

/** A number of pieces without the word for pieces: `2 stk.` and `2x` are 2. */
export const withoutUnit = (text: string): string =>
  text.length > maxParsedLength
    ? text
    : text.replace(/^x ?(?=\d)|(?<=\d) ?(?:x|stk|stck|stück|st|szt|pcs?|stuks?)\.?$/i, '')

/** The meaning of a source's status for an order or a ticket. */
export type StatusMeaning = OrderStatus | 'refunded'

const statuses: Readonly<Record<StatusMeaning, ReadonlySet<string>>> = {
  completed: wordsOf([
    'completed,complete,paid,succeeded,success,successful,captured,fulfilled,processed,active,valid,attending',
    'checked in,used,settled,free,placed,paid order,free order,complimentary,partially refunded,partially_refunded',
    'delvist refunderet,teilweise erstattet,delvis återbetald,gedeeltelijk terugbetaald,częściowo zwrócone',
    'betalt,gennemført,afsluttet,færdig,gyldig,gratis,godkendt,ekspederet,aktiv,brugt',
    'bezahlt,abgeschlossen,erledigt,gültig,kostenlos,aktiv,eingecheckt,vollständig bezahlt',
    'betald,slutförd,klar,giltig,genomförd,färdig',
    'betaald,voltooid,afgerond,geldig,afgehandeld,actief',
    'opłacone,opłacony,zapłacone,zapłacono,zrealizowane,zakończone,ważny,ukończone,bezpłatne,aktywny',
  ]),
  confirmed: wordsOf([
    'confirmed,approved,authorized,authorised,reserved,registered,going',
    'bekræftet,reserveret,tilmeldt,bestätigt,reserviert,angemeldet,bekräftad,reserverad,anmäld',
    'bevestigd,gereserveerd,aangemeld,potwierdzone,potwierdzony,zarezerwowane',
  ]),
  pending: wordsOf([
    'pending,open,unpaid,processing,on-hold,on hold,awaiting payment,pending payment,new,invoiced,outstanding,waiting',
    'partially paid,partially_paid,pending_approval,pending approval,waitlist,overdue,requires_action,requires_payment_method',
    'afventer,afventer betaling,ubetalt,ikke betalt,åben,under behandling,ny,offen,ausstehend,unbezahlt,unvollständig',
    'in bearbeitung,wartend,zahlung ausstehend,väntar,väntande,obetald,ej betald,öppen,pågående,pågår',
    'in afwachting,openstaand,onbetaald,niet betaald,nieuw,in behandeling',
    'oczekujące,oczekuje,nieopłacone,niezapłacone,w toku,nowe,w trakcie,otwarte',
  ]),
  cancelled: wordsOf([
    'cancelled,canceled,void,voided,expired,failed,declined,rejected,abandoned,deleted,not attending,invalid,yes (void)',
    'annulleret,aflyst,slettet,udløbet,afvist,mislykket,makuleret,annulliert,storniert,abgelaufen,gelöscht',
    'fehlgeschlagen,abgebrochen,abgelehnt,avbokad,makulerad,avbruten,avbeställd,annullerad,misslyckad,utgången',
    'geannuleerd,verlopen,mislukt,afgewezen,vervallen,anulowane,anulowany,anulowano,odrzucone,wygasłe,nieudane,usunięte',
  ]),
  refunded: wordsOf([
    'refunded,fully refunded,charged back,chargeback,refund',
    'refunderet,tilbagebetalt,krediteret,erstattet,zurückerstattet,rückerstattet,återbetald,krediterad',
    'terugbetaald,gecrediteerd,zwrócone,zwrócono,zwrot',
  ]),
}

const meanings = Object.keys(statuses) as StatusMeaning[]

/** The meaning of another system's status, in six languages, or null. */
export function readStatus(text: string): StatusMeaning | null {
  const word = plainWord(text)
  return meanings.find((meaning) => statuses[meaning].has(word)) ?? null
}
