import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recipes } from '../../packages/client/cli/trigger/recipes.ts'
import { createClient } from '../../packages/client/src/index.ts'
import { makePerson } from '../../packages/client/test/ecm.ts'
import type { Page } from '../../scripts/support/client.ts'
import { givenEndpoint, openPlace, type Place, sell, send, waitForEnd } from '../support/receiving.ts'

interface StoredEvent {
  id: string
  kind: string
  payload: string
}

const patience = { timeout: 60_000, interval: 100 }

let place: Place
let person: ReturnType<typeof makePerson>
beforeAll(async () => {
  person = makePerson()
  place = await openPlace()
})
afterAll(async () => {
  await place?.close()
  person?.[Symbol.dispose]()
})

const listEvents = async (query = ''): Promise<StoredEvent[]> => {
  const path = `/v1/webhooks/events?organization_id=${place.organization_id}&page_size=500${query}`
  return (await place.client.get<Page<StoredEvent>>(path)).results
}

const readSecret = (output: string): string => /whsec_[\w+/=]+/.exec(output)?.[0] ?? ''

describe('ecm listen', () => {
  it('sends every event at least once and in order to a receiver that fails, hangs and returns', async () => {
    const { receiver } = place
    const path = '/local'
    const failures = [500, 'hang', 'cut', 302, 503] as const
    receiver.respondWith(path, ({ id }, nth) =>
      nth === 1 && id.charCodeAt(29) % 5 === 0 ? failures[id.charCodeAt(28) % 5]! : 204,
    )
    const start = () =>
      person.start(['listen', '--forward-to', receiver.url(path), '--retry', '0.1', '--timeout', '0.5'], place.login)
    let running = start()
    await expect.poll(() => running.output(), patience).toContain('next event')
    receiver.trust(path, readSecret(running.output()))
    await sell(place, 1, 'first')
    await expect.poll(() => receiver.posts(path).length, patience).toBeGreaterThan(0)
    await sell(place, 25, 'listen')
    const events = await listEvents()
    expect(events.length).toBeGreaterThan(25)
    for (const count of [8, 17]) {
      await expect.poll(() => receiver.counts(path).size, patience).toBeGreaterThan(count)
      await running.kill('SIGKILL')
      running = start()
    }
    await expect.poll(() => receiver.posts(path).at(-1)?.id, patience).toBe(events.at(-1)?.id)
    expect(await running.kill('SIGTERM')).toBe(0)
    const posts = receiver.posts(path)
    const order = posts.filter(({ id }, index) => id !== posts[index - 1]?.id).map(({ id }) => id)
    expect(order).toEqual(events.map(({ id }) => id))
    const payloads = new Map(events.map(({ id, payload }) => [id, payload]))
    for (const post of posts)
      expect(post).toMatchObject({ body: payloads.get(post.id), verified: [expect.any(String)] })
  })
})

it('an admin of an edition gets the events of the edition, and nobody those of another organisation', async () => {
  const { client, organization_id, edition_id, receiver, login } = place
  const membership = { email: 'ea@slow.example', role: 'admin', edition_id }
  const { id } = await client.post<{ id: string }>(`/v1/organizations/${organization_id}/members`, membership)
  const { token } = await client.post<{ token: string }>('/v1/auth/tokens', { name: 'ecm', member_id: id })
  const { id: other } = await client.post<{ id: string }>('/v1/organizations', { name: 'Other' })
  const env = { ...login, ECM_TOKEN: token }
  const args = ['listen', '--forward-to', receiver.url('/edition')]
  expect(await person.run([...args, '--organization', other], { env })).toMatchObject({ code: 1 })
  const running = person.start([...args, '--since', '1h', '--events', 'order.created'], env)
  const created = (await listEvents(`&kind=order.created&edition_id=${edition_id}`)).map((event) => event.id)
  await expect.poll(() => receiver.posts('/edition').map((post) => post.id), patience).toEqual(created)
  await running.kill('SIGTERM')
})

describe('ecm trigger', () => {
  it('causes the event of each kind that is not an example', async () => {
    const { organization_id, edition_id } = place
    await place.client.patch(`/v1/editions/${edition_id}`, { is_draft: false })
    const client = createClient({ url: place.login.ECM_URL, token: place.login.ECM_TOKEN })
    const names = Object.entries(recipes).flatMap(([kind, { run }]) => (run ? [kind] : []))
    for (const [kind, { run }] of Object.entries(recipes)) {
      const stamp = kind.replaceAll(/\W/g, '-')
      const trigger = { client, tenant: { organization_id, edition_id }, stamp, recipient: 'dev@example.com' }
      await run?.({ ...trigger, add: () => undefined })
    }
    await place.sweep()
    const listKinds = async () => [...new Set((await listEvents('&ordering=-cursor')).map(({ kind }) => kind))]
    await expect.poll(listKinds, patience).toEqual(expect.arrayContaining(names))
    expect(names).toHaveLength(14)
  })

  it('says what it made, and sends an example of what only a phone can cause', async () => {
    const env = place.login
    const made = await person.run(['trigger', 'consent.given'], { env })
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('gives a consent') as unknown })
    const objects = JSON.parse(made.stdout) as { object: string; id: string }[]
    expect(objects.map(({ object }) => object)).toEqual(expect.arrayContaining(['edition', 'customer']))
    const customer = objects.find(({ object }) => object === 'customer')?.id ?? ''
    const [event] = await listEvents(`&resource_id=${customer}&kind=consent.given`)
    expect(event?.payload).toContain(customer)

    const path = '/example'
    const address = place.receiver.url(path)
    const organization = ['--forward-to', address, '--edition', place.edition_id]
    const example = await person.run(['trigger', 'wallet.vendorA.pass-added', ...organization], { env })
    expect(example).toMatchObject({ code: 0, stderr: expect.stringContaining('only a phone') as unknown })
    const [post] = place.receiver.posts(path)
    expect(JSON.parse(post?.body ?? '')).toMatchObject({ id: post?.id, type: 'wallet.vendorA.pass-added' })
  })
})

describe('ecm verify', () => {
  it('finds the change of a delivery that a receiver refused', async () => {
    const env = place.login
    const endpoint = await givenEndpoint(place)
    const delivery = await waitForEnd(place, endpoint, await send(place, endpoint))
    const names = ['--secret', endpoint.secret, '--webhook', endpoint.id, '--delivery', delivery.id]
    expect(await person.run(['verify', ...names], { env })).toMatchObject({ code: 0 })
    writeFileSync(join(person.folder, 'received.json'), `${delivery.payload} `)
    const changed = await person.run(['verify', ...names, '--body', 'received.json'], { env })
    expect(changed).toMatchObject({ code: 1, stderr: expect.stringContaining('not the one that was sent') as unknown })
    const [post] = place.receiver.posts(endpoint.path)
    writeFileSync(join(person.folder, 'headers.json'), JSON.stringify(post?.headers))
    const words = ['verify', '--secret', endpoint.secret, '--headers', 'headers.json']
    const received = await person.run(words, { stdin: post?.body ?? '' })
    expect(received).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(received.stdout)).toMatchObject({ valid: true, reasons: [] })
  })
})
