import { expect, it } from 'vitest'
import { chooseCaller, implemented, make, send } from '../support/operations.ts'
import { buildWorld } from '../support/world.ts'

/** The example of a page has one result, other lists have two items, and secrets are replaced. */
function shortened(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, key === 'results' ? 1 : 2).map((item) => shortened(item))
  if (typeof value === 'string')
    return value
      .replace(/^(ecm|whsec)_.{8,}$|(?<=#link=).+/, (_, kind?: string) => `${kind ? `${kind}_` : ''}0123456789abcdef`)
      .slice(0, 2000)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, name)]))
}

// `npm run examples` reads what this prints; it does not test the service.
it('every operation has an answer for its example', { timeout: 300_000 }, async () => {
  const world = await buildWorld()
  let count = 0
  for (const operation of implemented) {
    if (!operation.response) continue
    const caller = chooseCaller(operation, world)
    const { status, body } = await send(operation, await make(operation, world, caller), { token: caller.token })
    expect([operation.id, status]).toEqual([operation.id, operation.status])
    console.log(`example ${operation.id} ${JSON.stringify(shortened(body))}`)
    count += 1
  }
  expect(count).toBeGreaterThan(50)
})
