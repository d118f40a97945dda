import { timestampRange } from '../../domain/cel/instants.ts'
import { parseOffset } from '../../domain/cel/zones.ts'
import { listOffsets } from '../../domain/time/time-zones.ts'

/** Offsets are exact in these years. Before and after them the nearest one counts. */
const [yearsBefore, yearsAfter] = [15, 5]

const expressionsByZone = new Map<string, string>()

function buildOffsetExpression(zone: string, year: number): string {
  const spans = listOffsets(zone, Date.UTC(year - yearsBefore, 0), Date.UTC(year + yearsAfter + 1, 0))
  const last = spans.pop()
  if (spans.length === 0) return String(last?.offset ?? 0)
  return `case ${spans.map(({ to, offset }) => `when v < ${to} then ${offset}`).join(' ')} else ${last?.offset ?? 0} end`
}

/** Builds the SQL of the offset of a zone at the time `v`. Finding the changes of a zone is slow, so it is remembered. */
function findOffsetExpression(zone: string, now: number): string {
  const offset = parseOffset(zone)
  if (offset !== null) return String(offset)
  const year = new Date(now).getUTCFullYear()
  const key = `${zone} ${year}`
  const expression = expressionsByZone.get(key) ?? buildOffsetExpression(zone, year)
  expressionsByZone.set(key, expression)
  return expression
}

/** Builds the SQL of what clocks of a zone show at the time `v`, as if it were UTC. */
export const buildLocalTime = (zone: string, now: number): string =>
  `min(v + ${findOffsetExpression(zone, now)}, ${timestampRange.to})`
