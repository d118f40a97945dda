import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { fold, listPhoneDigits, parsePhoneNeedles } from '../../../src/domain/text/fold.ts'
import { rootToken } from '../../support/api.ts'
import { walkAs } from '../../support/lists.ts'
import { act, change, make, person, type SearchedPeople, text } from '../../support/searched-people.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { db } from '../../support/seeding/rows.ts'

const sortIds = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted()
const either = (column: string, needles: readonly string[]) =>
  sql.join(
    needles.map((needle) => sql`instr(${sql.raw(column)}, ${needle}) > 0`),
    sql` or `,
  )

interface Person {
  id: string
  email: string | null
  first_name: string
  phone_digits: string
}

const listTexts = ({ first_name, email, phone_digits }: Person): string[] => [
  fold(first_name),
  fold(email ?? ''),
  phone_digits,
]

const containsOneOf = (texts: readonly string[], needles: readonly string[]): boolean =>
  needles.some((needle) => texts.some((candidate) => candidate.includes(needle)))

/** Finds the matching rows of each filter by reading every row. */
async function reference(seeded: SearchedPeople, needle: string) {
  // Accents without a letter find nothing.
  if (fold(needle) === '')
    return { search: [], order_number: [], customer_email: [], customer_phone: [], customers: [] }
  const folded = [fold(needle), ...parsePhoneNeedles(needle)]
  const digits = listPhoneDigits(needle)
  const ordersWhere = async (condition: ReturnType<typeof either>) =>
    sortIds(
      await db.all(sql<{ id: string }>`select orders.id from orders join users on users.id = user_id
        where orders.edition_id = ${seeded.editions[0]} and (${condition})`),
    )
  const people = await db.all(sql<Person & { orders: string }>`select id, email, first_name, phone_digits,
      (select json_group_array(orders.id) from orders where user_id = users.id and edition_id = ${seeded.editions[0]}) as orders
    from users where organization_id = ${seeded.organization}`)
  const ofAddress = people.filter(({ email }) => fold(email ?? '').includes(fold(needle)))
  return {
    search: await ordersWhere(
      either(
        // The address and the number follow the name.
        '(orders.search_text || char(10) || substr(users.search_text, instr(users.search_text, char(10)) + 1))',
        folded,
      ),
    ),
    order_number: await ordersWhere(either('orders.number_folded', [fold(needle)])),
    customer_email: ofAddress.flatMap((customer) => JSON.parse(customer.orders) as string[]).toSorted(),
    customer_phone: digits.length ? await ordersWhere(either('users.phone_digits', digits)) : [],
    customers: sortIds(people.filter((customer) => containsOneOf(listTexts(customer), folded))),
  }
}

const listIds = async (path: string, token: string): Promise<string[]> => {
  const { ids, count } = await walkAs(token, `${path}&page_size=7`)
  expect(new Set(ids).size).toBe(count)
  return ids.toSorted()
}

const searchEverything = async (people: SearchedPeople, needle: string) => {
  const encoded = encodeURIComponent(needle)
  const filter = (name: string) => listIds(`/v1/orders?edition_id=${people.editions[0]}&${name}=${encoded}`, rootToken)
  return {
    search: await filter('search'),
    order_number: await filter('order_number'),
    customer_email: await filter('customer_email'),
    customer_phone: await filter('customer_phone'),
    customers: await listIds(`/v1/user?organization_id=${people.organization}&search=${encoded}`, rootToken),
  }
}

/** Finds the rows of a viewer of the second edition by comparing all visible rows. */
async function seenByViewer(people: SearchedPeople, needle: string) {
  if (fold(needle) === '') return []
  const folded = [fold(needle), ...parsePhoneNeedles(needle)]
  const rows = await db.all(sql<Person>`select users.id, seen.email, seen.first_name, seen.phone_digits
    from edition_customers as seen join users on users.seq = seen.user_seq where seen.edition_id = ${people.editions[1]}`)
  return sortIds(rows.filter((row) => containsOneOf(listTexts(row), folded)))
}

it('every search finds exactly the matching rows, after any writes, changes and deletions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(person, { minLength: 4, maxLength: 8 }),
      fc.array(act, { maxLength: 8 }),
      fc.array(fc.record({ from: fc.nat(), start: fc.nat(), length: fc.integer({ min: 3, max: 8 }) }), {
        minLength: 5,
        maxLength: 5,
      }),
      fc.array(text(4), { minLength: 2, maxLength: 2 }),
      async (people, acts, slices, others) => {
        const seededRows = await make(people)
        for (const nextAct of acts) await change(seededRows, nextAct)
        const viewer = await givenMember({ id: seededRows.organization }, 'viewer', seededRows.editions[1])
        const texts = await db.all(sql<{ text: string }>`
          select search_text as text from users where organization_id = ${seededRows.organization}
          union all select search_text from orders where organization_id = ${seededRows.organization}`)
        const parts = slices.map(({ from, start, length }) => {
          const letters = [...(texts[from % texts.length]?.text ?? '').toLowerCase()]
          return letters
            .slice(start % Math.max(1, letters.length))
            .slice(0, length)
            .join('')
        })
        for (const needle of [...parts, ...others]) {
          const searchText = needle.replaceAll(/\p{Cc}/gu, '').trim()
          if (searchText === '') continue
          expect([searchText, await searchEverything(seededRows, searchText)]).toEqual([
            searchText,
            await reference(seededRows, searchText),
          ])
          const viewerIds = await listIds(
            `/v1/user?edition_id=${seededRows.editions[1]}&search=${encodeURIComponent(searchText)}`,
            viewer.token,
          )
          expect([searchText, viewerIds]).toEqual([searchText, await seenByViewer(seededRows, searchText)])
        }
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})
