import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePerson, waitForText } from '../ecm.ts'
import { json, problem, startStub } from '../stub.ts'

/** Moves the cursor, sets the title of the window and a colour, and writes over what stands there. */
const hostile = 'Ada\u001b[2J\u001b]0;owned\u0007\u001b[31m\u009b2J\r\u0008\u202eroot'
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/

const env = (url: string) => ({ ECM_URL: url, ECM_TOKEN: 'ecm_env' })
const onTerminal = { isTerminal: true }

describe('on a terminal', () => {
  it('a list is a table, and a pipe and --json get JSON', async () => {
    const results = [
      { id: 'ord_1', amount: 12.5, user: { id: 'usr_1', full_name: 'Ægir' } },
      { id: 'ord_22', amount: 7, user: null },
    ]
    using stub = await startStub([json(200, { count: 2, next: null, previous: null, results })])
    using person = makePerson()
    const table = person.start(['api', 'listOrders'], env(stub.url), onTerminal)
    expect(await table.ended).toBe(0)
    expect(table.output()).toBe('ID      AMOUNT  USER\r\nord_1   12.5    Ægir\r\nord_22  7\r\n')
    const plain = person.start(['api', 'listOrders', '--json'], env(stub.url), onTerminal)
    expect(await plain.ended).toBe(0)
    expect(JSON.parse(plain.output())).toMatchObject({ results })
  })

  it.for([
    [
      'a table',
      ['api', 'listUsers'],
      json(200, { count: 1, next: null, previous: null, results: [{ name: hostile }] }),
    ],
    ['an object', ['whoami'], json(200, { full_name: hostile, nested: { deep: hostile } })],
    ['JSON', ['whoami', '--json'], json(200, { full_name: hostile })],
    ['a file', ['api', 'exportUser', 'id=usr_1'], json(200, { name: hostile, raw: '\u009b31m' })],
    ['an error', ['whoami'], problem(403, hostile)],
  ] as const)('a hostile text in %s moves no cursor and changes no colour', async ([, args, answer]) => {
    using stub = await startStub([answer])
    using person = makePerson()
    const running = person.start(args, env(stub.url), onTerminal)
    await running.ended
    expect(stub.received).toHaveLength(1)
    expect(running.output()).not.toMatch(controls)
  })

  it('work over two seconds shows its progress, and leaves nothing of it', async () => {
    let answer = () => {}
    using stub = await startStub([(response) => (answer = () => json(200, { email: 'a@example.com' })(response))])
    using person = makePerson()
    const running = person.start(['api', 'getUserInfo'], env(stub.url), onTerminal)
    await waitForText(running, 'Waiting for the answer (2 s)')
    answer()
    expect(await running.ended).toBe(0)
    expect(running.output().split('\r\u001b[K').at(-1)).toBe('email  a@example.com\r\n')
  })

  it('Ctrl-C in a question cancels, and stores nothing', async () => {
    using stub = await startStub([json(200, {})])
    using person = makePerson()
    const running = person.start(['login', '--url', stub.url], {}, onTerminal)
    await waitForText(running, 'Your e-mail address')
    running.press('\u0003')
    expect(await running.ended).toBe(2)
    expect(running.output()).toContain('Cancelled.')
    expect(stub.received).toEqual([])
    expect(existsSync(join(person.folder, 'config'))).toBe(false)
  })

  it('Ctrl-C ends a command that waits for an answer', async () => {
    using stub = await startStub([() => {}])
    using person = makePerson()
    const running = person.start(['whoami'], env(stub.url), onTerminal)
    await expect.poll(() => stub.received.length, { timeout: 60_000 }).toBe(1)
    running.press('\u0003')
    expect(await running.ended).not.toBe(0)
  })

  it('ecm open hands the address to the browser', async () => {
    using person = makePerson()
    const browser = join(person.folder, 'browser')
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${browser}.address\n`)
    chmodSync(browser, 0o700)
    const address = { ECM_URL: 'https://api.example.com', BROWSER: browser }
    const running = person.start(['open', 'getEdition'], address, onTerminal)
    expect(await running.ended).toBe(0)
    const page = 'https://api.example.com/docs#tag/editions/GET/v1/editions/{id}'
    expect(running.output()).toContain(`Opened ${page}`)
    await expect
      .poll(() => existsSync(`${browser}.address`) && readFileSync(`${browser}.address`, 'utf8'), { timeout: 60_000 })
      .toBe(page)
    const missing = person.start(['open'], { ...address, BROWSER: join(person.folder, 'missing') }, onTerminal)
    expect(await missing.ended).toBe(0)
    expect(missing.output()).toBe('https://api.example.com/docs\r\n')
  })
})

describe('ecm open in a pipe', () => {
  it('prints the address of the reference, of a page of the console, of an operation, and of an error', async () => {
    using stub = await startStub((path) =>
      path.endsWith('/invalid_domain') ? json(200, {}) : problem(404, 'not_found'),
    )
    using person = makePerson()
    const open = async (...args: string[]) => (await person.run(['open', ...args, '--url', stub.url])).stdout.trim()
    expect(await open('createDataImport')).toBe(`${stub.url}/docs#tag/data-imports/POST/v1/data-imports`)
    expect(await open('console')).toBe(`${stub.url}/console`)
    expect(await open('orders')).toBe(`${stub.url}/console?open=orders`)
    expect(await open('campaign_not_ready')).toBe(`${stub.url}/docs/errors/campaign_not_ready`)
    expect(stub.received).toEqual([])
    expect(await open('invalid_domain')).toBe(`${stub.url}/docs/errors/invalid_domain`)
    expect(await person.run(['open', 'lstOrders', '--url', stub.url])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('listOrders') as unknown,
    })
  })
})
