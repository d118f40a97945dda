const minuteMs = 60_000

/** Names of the months as folded text: English, Danish, German, Swedish, Dutch, Polish (also as in `31 grudnia`). */
const names: readonly (readonly string[])[] = [
  ['january', 'januar', 'januari', 'jan', 'janner', 'styczen', 'stycznia', 'sty'],
  ['february', 'februar', 'februari', 'feb', 'febr', 'luty', 'lutego', 'lut'],
  ['march', 'marts', 'marz', 'maerz', 'mars', 'maart', 'mar', 'mrt', 'mrz', 'marzec', 'marca'],
  ['april', 'apr', 'kwiecien', 'kwietnia', 'kwi'],
  ['may', 'maj', 'mai', 'mei', 'maja'],
  ['june', 'juni', 'jun', 'czerwiec', 'czerwca', 'cze'],
  ['july', 'juli', 'jul', 'lipiec', 'lipca', 'lip'],
  ['august', 'augusti', 'augustus', 'aug', 'sierpien', 'sierpnia', 'sie'],
  ['september', 'sep', 'sept', 'wrzesien', 'wrzesnia', 'wrz'],
  ['october', 'oktober', 'oct', 'okt', 'pazdziernik', 'pazdziernika', 'paz'],
  ['november', 'nov', 'listopad', 'listopada', 'lis'],
  ['december', 'dezember', 'desember', 'dec', 'des', 'dez', 'grudzien', 'grudnia', 'gru'],
]

/** The numbers of the months from 1, by folded name. */
export const monthNumbers: ReadonlyMap<string, number> = new Map(
  names.flatMap((ofMonth, index) => ofMonth.map((name) => [name, index + 1] as const)),
)

/** Days of the week as folded text; a date is read without them. */
export const weekdays: ReadonlySet<string> = new Set(
  [
    'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun',
    'mandag tirsdag onsdag torsdag fredag lordag sondag man tir tirs ons tor tors fre lor son',
    'montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so',
    'mandag tisdag onsdag torsdag fredag lordag sondag mandagen tis',
    'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo',
    'poniedzialek wtorek sroda czwartek piatek sobota niedziela pon wt sr czw pt sob niedz nd',
  ].flatMap((line) => line.split(' ')),
)

const hours = (count: number): number => count * 60 * minuteMs

/** Names of zones that follow a time, with their offsets from UTC. */
const zones: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  wet: 0,
  west: hours(1),
  bst: hours(1),
  cet: hours(1),
  mez: hours(1),
  cest: hours(2),
  mesz: hours(2),
  eet: hours(2),
  eest: hours(3),
  est: hours(-5),
  edt: hours(-4),
  cst: hours(-6),
  cdt: hours(-5),
  mst: hours(-7),
  mdt: hours(-6),
  pst: hours(-8),
  pdt: hours(-7),
}

/** The milliseconds ahead of UTC of a folded text such as `z`, `+0100`, `utc+2`, `cest`, or null. */
export function offsetOf(text: string): number | null {
  const known = Object.hasOwn(zones, text) ? zones[text] : undefined
  if (known !== undefined) return known
  const found = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text)
  if (!found) return null
  const [hour, minute] = [Number(found[2]), Number(found[3] ?? 0)]
  return hour > 14 || minute > 59 ? null : (found[1] === '-' ? -1 : 1) * (hour * 60 + minute) * minuteMs
}
