import type { RowOwner } from '../../db/lists/runs/row-owners.ts'
import { kindWith, wantedKinds } from '../../db/lists/runs/run-list.ts'
import { LostChunk, type SeenAs } from '../../db/lists/runs/run-rows.ts'
import { customerRunList, facetNumbers, facetsOf } from './run-list.ts'

/** Whom several editions have, as roles of some of these see them. */
interface SharedCustomer {
  /** The editions of the role that have them: who gave them anything last is the first. */
  mine: readonly RowOwner[]
  /** Whether others have them, too, so that they are shown what these editions were given. */
  isElsewhere: boolean
}

/** Whether a list has a customer at the place that an edition gives. Of editions that give the same place it has one. */
export type IsPlace = (customer: SharedCustomer, edition: string) => boolean

export const isWhereJoined: IsPlace = ({ mine }, edition) => mine.at(-1)?.id === edition

export const isOwnPlace: IsPlace = (customer, edition) => !customer.isElsewhere && isWhereJoined(customer, edition)

const hasFlag =
  (flag: number) =>
  ({ flags }: RowOwner): boolean =>
    (flags & flag) !== 0

/** Where the last one stands that was given a value. */
export const isWhereGiven =
  (flag: number): IsPlace =>
  ({ mine, isElsewhere }, edition) =>
    isElsewhere && mine.find(hasFlag(flag))?.id === edition

/** Who is shown no value: none of the editions was given one. */
export const isWithout =
  (flag: number): IsPlace =>
  (customer, edition) =>
    customer.isElsewhere && !customer.mine.some(hasFlag(flag)) && isWhereJoined(customer, edition)

const areShared = wantedKinds(customerRunList, facetsOf({ hidden: 'hidden' }))

/** Customers as roles of some editions see them: of a kind that says whether others than these have them. */
export function seenIn(own: ReadonlySet<string>, isPlace: IsPlace): SeenAs {
  /** Null where the list has them elsewhere. Owners that were read from runs of one edition are the same object. */
  const known = new Map<readonly RowOwner[], boolean | null>()
  const look = (edition: string, owners: readonly RowOwner[]): boolean | null => {
    const mine = owners.filter(({ id }) => own.has(id))
    const isElsewhere = mine.length < owners.length
    return isPlace({ mine, isElsewhere }, edition) ? isElsewhere : null
  }
  return (edition, kind, owners) => {
    if (!areShared[kind]) return kind
    if (!owners) throw new LostChunk()
    let isElsewhere = known.get(owners)
    if (isElsewhere === undefined) known.set(owners, (isElsewhere = look(edition, owners)))
    if (isElsewhere === null) return null
    return isElsewhere ? kind : kindWith(customerRunList, kind, facetNumbers.hidden, 0)
  }
}
