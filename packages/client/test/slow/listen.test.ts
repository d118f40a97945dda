import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePerson } from '../ecm.ts'
import { startFeed, startReceiver } from '../feed.ts'

const patience = { timeout: 20_000 }

/** The events without the repetitions of each, which must stand side by side. */
const withoutRepetitions = (ids: readonly string[]): string[] => ids.filter((id, index) => id !== ids[index - 1])

const readSecret = (output: string): string => /whsec_[\w+/=]+/.exec(output)?.[0] ?? ''

describe('ecm listen', () => {
  it('sends everything at least once and in order, although it is killed in the middle', async () => {
    using feed = await startFeed()
    using person = makePerson()
    using receiver = await startReceiver((id, nth) => (Number(id.slice(4)) % 5 === 3 && nth < 3 ? 500 : 204))
    const args = ['listen', '--forward-to', receiver.url, '--retry', '0.05']
    const ids = Array.from({ length: 40 }, (_, index) => `evn_${index}`)
    const secrets = new Set<string>()
    let running = person.start(args, feed.env)
    await expect.poll(() => feed.requests.length, patience).toBe(1)
    const bodies = ids.map((id) => feed.push(id, { text: `Ø\u2028${id}` }))
    for (const count of [8, 20, 31]) {
      await expect.poll(() => receiver.posts.length, patience).toBeGreaterThan(count)
      secrets.add(readSecret(running.output()))
      await running.kill('SIGKILL')
      running = person.start(args, feed.env)
    }
    await expect.poll(() => receiver.ids().at(-1), patience).toBe('evn_39')
    secrets.add(readSecret(running.output()))
    expect(await running.kill('SIGTERM')).toBe(0)
    expect(withoutRepetitions(receiver.ids())).toEqual(ids)
    expect(receiver.posts.map(({ id, body }) => body === bodies[ids.indexOf(id)])).not.toContain(false)
    expect(secrets.size).toBe(1)
    expect(receiver.isSignedBy([...secrets][0] ?? '')).toBe(true)
    const { stdout } = await person.run([...args, '--print-secret'], { env: feed.env })
    expect(stdout.trim()).toBe([...secrets][0])
  })

  it('goes on after a lost connection and a refusal, and begins with the oldest event when its own is deleted', async () => {
    using feed = await startFeed()
    using person = makePerson()
    using receiver = await startReceiver()
    const args = ['listen', '--forward-to', receiver.url, '--since', '2h', '--events', 'order.*']
    const running = person.start(args, feed.env)
    feed.push('evn_1')
    await expect.poll(() => receiver.ids(), patience).toEqual(['evn_1'])
    feed.refuseNext({ status: 410, code: 'events_expired' })
    feed.cut()
    feed.push('evn_2')
    await expect.poll(() => receiver.ids(), patience).toEqual(['evn_1', 'evn_1', 'evn_2'])
    expect(running.output()).toContain('is lost')
    expect(running.output()).toContain('are deleted')
    await running.kill('SIGTERM')
    const [first, second, third] = feed.requests
    expect(Date.now() - Date.parse(first?.query.get('created_after') ?? '')).toBeGreaterThanOrEqual(7_200_000)
    expect(first?.query.get('kind')).toBe('order.cancelled,order.created,order.updated')
    expect(second?.lastEventId).toMatch(/:1$/)
    expect(third).toMatchObject({ lastEventId: undefined })
    expect(third?.query.get('created_after')).toBe('1970-01-01T00:00:00.000Z')
  })

  it('prints JSON lines in a pipe, and nothing else on stdout', async () => {
    using feed = await startFeed()
    using person = makePerson()
    using receiver = await startReceiver((_, nth) => (nth === 1 ? 500 : 200))
    feed.push('evn_1')
    const args = ['listen', '--forward-to', receiver.url, '--since', '1d', '--retry', '0.01']
    const running = person.start(args, feed.env)
    await expect.poll(() => running.output(), patience).toContain('"delivered"')
    await running.kill('SIGTERM')
    const lines = running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { kind: 'order.created', id: 'evn_1', result: 'failed', status: 500, attempt: 1, retry_in_seconds: 0.01 },
      { id: 'evn_1', result: 'delivered', status: 200, attempt: 2, retry_in_seconds: null },
    ])
  })

  it('takes the keys s, r and q on a terminal', async () => {
    using feed = await startFeed()
    using person = makePerson()
    using receiver = await startReceiver((id) => (id === 'evn_1' ? 500 : 204))
    feed.push('evn_1')
    feed.push('evn_2')
    const args = ['listen', '--forward-to', receiver.url, '--since', '1d', '--retry', '600']
    const running = person.start(args, feed.env, { isTerminal: true })
    await expect.poll(() => running.output(), patience).toContain('again in 600 s')
    running.press('r')
    await expect.poll(() => receiver.ids(), patience).toEqual(['evn_1', 'evn_1'])
    await expect.poll(() => running.output().split('again in 600 s').length, patience).toBe(3)
    running.press('s')
    await expect.poll(() => running.output(), patience).toContain('204')
    running.press('r')
    await expect.poll(() => running.output(), patience).toContain('sent again')
    running.press('q')
    expect(await running.ended).toBe(0)
    expect(receiver.ids()).toEqual(['evn_1', 'evn_1', 'evn_2', 'evn_2'])
    expect(running.output()).toContain('skipped')
  })

  it('says what is wrong with its options, and calls nothing', async () => {
    using feed = await startFeed()
    using person = makePerson()
    const run = (...args: string[]) => person.run(['listen', ...args], { env: feed.env })
    const kind = await run('--forward-to', 'localhost:1', '--events', 'order.create')
    expect(kind).toMatchObject({ code: 2, stderr: expect.stringContaining('order.created') as unknown })
    expect(await run('--forward-to', 'localhost:1', '--retry', '1,x')).toMatchObject({ code: 2 })
    expect(feed.requests).toEqual([])
    writeFileSync(join(person.folder, '.local'), 'in the way')
    expect(await run('--forward-to', 'localhost:1')).toMatchObject({ code: 1 })
  })
})

describe('ecm trigger', () => {
  it('makes nothing on another machine without an edition and a confirmation', async () => {
    using person = makePerson()
    const env = { ECM_URL: 'https://api.example.com', ECM_TOKEN: 'ecm_test' }
    const anywhere = await person.run(['trigger', 'order.created'], { env })
    expect(anywhere).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--edition') as unknown })
    const unconfirmed = await person.run(['trigger', 'order.created', '--edition', 'edt_1'], { env })
    expect(unconfirmed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') as unknown })
  })
})
