import type { NoFilters } from '../../db/lists/filters.ts'
import { rangeOfTime, type RunRows, type SeenAs } from '../../db/lists/runs/run-rows.ts'
import type { RunOrdering } from '../../db/lists/runs/run-list.ts'
import { shortIds } from '../../db/short-ids.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import type { Ctx } from '../../context.ts'
import { type Caller, reachOf } from '../../domain/accounts/access.ts'
import type { OrderBy } from '../../domain/page.ts'
import type { UserFilters } from './contract.ts'
import { type AskedKinds, customerRunList, givenFlags, orders, part, source } from './run-list.ts'
import { type IsPlace, isOwnPlace, isWhereGiven, isWhereJoined, isWithout, seenIn } from './places.ts'
import type { CustomerOrder } from './starts.ts'

const { number, joined, email, phone, seen, givenJoined, givenEmail, givenPhone } = orders

/** The order of customers who are seen whole. Keys begin as those of `sortKeys` do. */
const partsOfWhole: Record<CustomerOrder, RunRows['parts']> = {
  date_joined: [part([], source(joined))],
  email: [part([0], source(email)), part([1], source(number, { email: 'none' }))],
  phone_number: [
    part([0], source(phone)),
    part([1, 0], source(joined, { phone: 'none' })),
    part([2, 0], source(joined, { phone: 'erased' })),
  ],
  last_seen: [part([0], source(seen)), part([1, 0], source(joined, { seen: 'none' }))],
}

const whole = { hidden: 'whole' } as const
/** The order that roles of the edition see. */
const partsOfRoles: Record<CustomerOrder, RunRows['parts']> = {
  date_joined: [part([], source(joined, { joined: 'same' }), source(givenJoined))],
  email: [part([0], source(email, whole), source(givenEmail)), part([1], source(number, { shownEmail: 'none' }))],
  phone_number: [
    { ...part([0], source(phone, whole), source(givenPhone)), ignoresCreation: true },
    part([1], source(number, { shownPhone: 'none' })),
  ],
  last_seen: [
    { ...part([0], source(seen, whole)), ignoresCreation: true },
    part([1], source(number, { shownSeen: 'none' })),
  ],
}

/** No customer is so. */
const never: AskedKinds = { hidden: 'whole', shownSeen: 'none', seen: 'some' }

/** Of the customers whom several editions have, who are in others than those of a role: all, some or none of them. */
type Hidden = 'all' | 'some' | 'none'

/**
 * The order that roles of several editions see. Who is in several stands in the runs of each, wherever one of them would show the
 * customer: the list has them in the place that is shown.
 */
function partsOfSeveral(order: CustomerOrder, hidden: Hidden, own: ReadonlySet<string>): RunRows['parts'] {
  const at = (isPlace: IsPlace): SeenAs => seenIn(own, isPlace)
  const whereOwn: AskedKinds = hidden === 'all' ? whole : {}
  const asShown = (ordering: RunOrdering, kinds: AskedKinds = {}) =>
    source(ordering, { ...whereOwn, ...kinds }, at(isOwnPlace))
  const asGiven = (ordering: RunOrdering, kinds: AskedKinds, isPlace: IsPlace) =>
    source(ordering, hidden === 'none' ? never : kinds, at(isPlace))
  const hiddenIn = { hidden: 'hidden' } as const
  if (order === 'date_joined')
    return [part([], source(joined, { joined: 'same' }, at(isWhereJoined)), source(givenJoined, {}, at(isWhereJoined)))]
  if (order === 'email')
    return [
      part([0], asShown(email), asGiven(givenEmail, {}, isWhereGiven(givenFlags.email))),
      part(
        [1],
        asShown(number, { email: 'none' }),
        asGiven(number, { ...hiddenIn, shownEmail: 'none' }, isWithout(givenFlags.email)),
      ),
    ]
  if (order === 'phone_number')
    return [
      {
        ...part([0], asShown(phone), asGiven(givenPhone, {}, isWhereGiven(givenFlags.phone))),
        ignoresCreation: true,
      },
      part(
        [1],
        asShown(number, { phone: 'none' }),
        asShown(number, { phone: 'erased' }),
        asGiven(number, { ...hiddenIn, shownPhone: 'none' }, isWithout(givenFlags.phone)),
      ),
    ]
  return [
    { ...part([0], asShown(seen)), ignoresCreation: true },
    part([1], asShown(number, { seen: 'none' }), asGiven(number, hiddenIn, isWithout(0))),
  ]
}

/** What is counted of the list says which customers are in others: `beyond`, and of those in several `within` are in these alone. */
const rowsOfSeveral = (order: CustomerOrder, own: ReadonlySet<string>): Pick<RunRows, 'parts' | 'counted'> => ({
  parts: partsOfSeveral(order, 'some', own),
  counted: ({ beyond = 0, within = 0 }) => {
    const some = within === 0 ? 'all' : 'some'
    return { parts: partsOfSeveral(order, beyond === 0 ? 'none' : some, own) }
  },
})

/** The short ids of the editions that a caller has roles in. */
function ownEditions(caller: Caller): ReadonlySet<string> {
  const reach = reachOf(caller)
  return new Set(shortIds(reach.all ? [] : reach.editions.flatMap((grant) => grant.edition_id ?? [])))
}

/** The customers of editions in an order that has runs: as they are, or as roles of these editions see them. */
export function rowsInRuns(
  ctx: Ctx,
  filters: UserFilters,
  { isWhole, onlyEdition, reached }: CustomerView,
  [by = { name: 'date_joined', desc: true }, ...others]: readonly OrderBy<CustomerOrder>[],
): RunRows | null {
  const { edition_id, organization_id, search, ...unnamed } = filters
  unnamed satisfies NoFilters
  if (others.length > 0 || search) return null
  const isOfOne = onlyEdition !== null && reached?.length === 1
  const { name } = by
  const ofRoles = isOfOne ? { parts: partsOfRoles[name] } : rowsOfSeveral(name, ownEditions(ctx.caller))
  return {
    list: customerRunList,
    editions: editionsSeenBy(ctx.caller, { edition_id, organization_id }),
    ...rangeOfTime(undefined, undefined),
    ...(isWhole ? { parts: partsOfWhole[name] } : ofRoles),
    hasBeside: !isWhole,
    areKindsShown: true,
    isDesc: by.desc,
  }
}
