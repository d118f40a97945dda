import type { AnswerMethod, AnswerStatus } from './consents.ts'

/** The fields of a record that decide its place among the answers of two customers who become one. */
export interface MergeableRecord {
  id: string
  status: AnswerStatus
  method: AnswerMethod
  import_id: string | null
  occurred_at: number
  expires_at: number | null
}

/** An answer with the expiries that the service recorded after it. */
interface AnswerUnit<Row> {
  answer: Row
  records: Row[]
  isOwn: boolean
  /** True for the last answer of its chain. */
  isLast: boolean
}

function groupRecords<Row extends MergeableRecord>(chain: readonly Row[], isOwn: boolean): AnswerUnit<Row>[] {
  const units: AnswerUnit<Row>[] = []
  for (const record of chain) {
    const unit = units.at(-1)
    if (record.method === 'expiry' && unit) unit.records.push(record)
    else units.push({ answer: record, records: [record], isOwn, isLast: false })
  }
  const last = units.at(-1)
  if (last) last.isLast = true
  return units
}

const strictness: Readonly<Record<AnswerStatus, number>> = {
  given: 0,
  pending: 1,
  expired: 2,
  skipped: 2,
  withdrawn: 3,
}

/** True if the answer of the other customer comes first. Of two answers of one time, the stricter comes last and counts. */
const isBefore = (
  { answer: other }: AnswerUnit<MergeableRecord>,
  { answer: own }: AnswerUnit<MergeableRecord>,
): boolean =>
  other.occurred_at === own.occurred_at
    ? strictness[other.status] <= strictness[own.status]
    : other.occurred_at < own.occurred_at

/** Sorts the answers of both by time. Each chain keeps its own order. */
function interleave<Row extends MergeableRecord>(own: AnswerUnit<Row>[], other: AnswerUnit<Row>[]): AnswerUnit<Row>[] {
  const [ownUnits, otherUnits] = [[...own], [...other]]
  const units: AnswerUnit<Row>[] = []
  for (;;) {
    const [ownUnit, otherUnit] = [ownUnits[0], otherUnits[0]]
    if (!ownUnit || !otherUnit) return [...units, ...ownUnits, ...otherUnits]
    units.push(isBefore(otherUnit, ownUnit) ? otherUnit : ownUnit)
    if (isBefore(otherUnit, ownUnit)) otherUnits.shift()
    else ownUnits.shift()
  }
}

const getStatus = ({ answer, records }: AnswerUnit<MergeableRecord>): AnswerStatus => (records.at(-1) ?? answer).status

/**
 * Leaves out what is no answer of one person: a request that was confirmed, answered otherwise or never confirmed, a
 * request for a consent that is given, and a box that was left empty by somebody who had answered before.
 */
function listCountingUnits<Row extends MergeableRecord>(units: readonly AnswerUnit<Row>[], now: number) {
  const countingUnits: AnswerUnit<Row>[] = []
  for (const unit of units) {
    const before = countingUnits.at(-1)
    const { status } = unit.answer
    const isGiven =
      before !== undefined &&
      getStatus(before) === 'given' &&
      (before.answer.expires_at === null || before.answer.expires_at > now)
    const isOpen = unit.isLast && unit.records.length === 1 && (unit.answer.expires_at ?? Infinity) > now && !isGiven
    if (status === 'pending' && !isOpen) continue
    if (status === 'skipped' && before !== undefined && getStatus(before) !== 'skipped') continue
    countingUnits.push(unit)
  }
  return countingUnits
}

/**
 * Lists the records that a customer's chain has to repeat when another customer is merged into them, so that the later
 * answer counts. The list begins with an answer that no undo of an import takes back, so that such an undo leaves the
 * answer before it. It is empty when the customer's own answer is the later one.
 */
export function listRepeatedRecords<Row extends MergeableRecord>(
  own: readonly Row[],
  other: readonly Row[],
  now: number,
): Row[] {
  const units = listCountingUnits(interleave(groupRecords(own, true), groupRecords(other, false)), now)
  const lastFixed = units.findLastIndex((unit) => unit.answer.import_id === null && getStatus(unit) !== 'pending')
  const repeatedUnits = units.slice(Math.max(0, lastFixed))
  return repeatedUnits.every(({ isOwn }) => isOwn) ? [] : repeatedUnits.flatMap(({ records }) => records)
}
