import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePerson } from '../ecm.ts'
import { json, problem, startStub } from '../stub.ts'

const user = json(200, { email: 'astrid@example.com', organizations: [] })
const page = (ids: string[], next: string | null) =>
  json(200, { count: 3, next, previous: null, results: ids.map((id) => ({ id, amount: 100 })) })

const sentToken = ({ received }: { received: { headers: { authorization?: string } }[] }) =>
  received.map(({ headers }) => headers.authorization)

function writeDevelopmentLogin(folder: string, url: string, mode = 0o600) {
  mkdirSync(join(folder, '.wrangler'))
  const path = join(folder, '.wrangler', 'ecm.json')
  writeFileSync(path, JSON.stringify({ url, token: 'ecm_folder' }))
  chmodSync(path, mode)
}

describe('the token', () => {
  it('is stored by ecm login for its owner alone, and used by later commands', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    const login = await person.run(['login', '--url', stub.url, '--token', '-'], { stdin: 'ecm_stored\n' })
    expect(login).toMatchObject({ code: 0, stdout: '' })
    expect(login.stderr).toContain('astrid@example.com')
    expect(login.stderr).not.toContain('ecm_stored')
    const path = join(person.folder, 'config', 'ecm', 'credentials.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { code, stdout } = await person.run(['whoami'])
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      url: stub.url,
      email: 'astrid@example.com',
    })
    expect(sentToken(stub)).toEqual(['Bearer ecm_stored', 'Bearer ecm_stored'])
  })

  it('of --token comes before ECM_TOKEN, which comes before the file', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    await person.run(['login', '--url', stub.url, '--token', '-'], { stdin: 'ecm_stored' })
    const env = { ECM_TOKEN: 'ecm_env' }
    await person.run(['whoami', '--token', 'ecm_flag'], { env })
    await person.run(['whoami'], { env })
    expect(sentToken(stub)).toEqual(['Bearer ecm_stored', 'Bearer ecm_flag', 'Bearer ecm_env'])
  })

  it('of a login goes to no other address', async () => {
    using stub = await startStub([user])
    using other = await startStub([user])
    using person = makePerson()
    await person.run(['login', '--url', stub.url, '--token', '-'], { stdin: 'ecm_stored' })
    const { code, stderr } = await person.run(['whoami', '--url', other.url])
    expect(code).toBe(2)
    expect(stderr).toContain('not signed in')
    expect(other.received).toEqual([])
  })

  it('is refused while other people can read its file', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    await person.run(['login', '--url', stub.url, '--token', '-'], { stdin: 'ecm_stored' })
    chmodSync(join(person.folder, 'config', 'ecm', 'credentials.json'), 0o644)
    const { code, stderr } = await person.run(['whoami'])
    expect(code).toBe(2)
    expect(stderr).toContain('chmod 600')
    expect(stub.received).toHaveLength(1)
  })

  it('of ecm logout is forgotten, and its session ends', async () => {
    const session = { id: 'tok_1', kind: 'session', prefix: 'ecm_sto' }
    using stub = await startStub([
      user,
      json(200, { count: 1, next: null, previous: null, results: [session] }),
      json(204, null),
    ])
    using person = makePerson()
    await person.run(['login', '--url', stub.url, '--token', '-'], { stdin: 'ecm_stored' })
    expect(await person.run(['logout'])).toMatchObject({ code: 0 })
    expect(stub.received.at(-1)).toMatchObject({ method: 'DELETE', url: '/v1/auth/tokens/tok_1' })
    expect(readFileSync(join(person.folder, 'config', 'ecm', 'credentials.json'), 'utf8')).not.toContain('ecm_stored')
  })
})

describe('the login of a local server', () => {
  it('is used in its folder without any setting', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    writeDevelopmentLogin(person.folder, stub.url)
    expect(await person.run(['whoami'])).toMatchObject({ code: 0 })
    expect(sentToken(stub)).toEqual(['Bearer ecm_folder'])
  })

  it('is not used for another computer', async () => {
    using person = makePerson()
    writeDevelopmentLogin(person.folder, 'https://api.example.com')
    const { code, stderr } = await person.run(['whoami'])
    expect(code).toBe(2)
    expect(stderr).toContain('not signed in')
  })

  it('does not choose where ECM_TOKEN goes', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    writeDevelopmentLogin(person.folder, stub.url)
    const { code, stderr } = await person.run(['whoami'], { env: { ECM_TOKEN: 'ecm_secret' } })
    expect(code).toBe(2)
    expect(stderr).toContain('ECM_URL')
    expect(stub.received).toEqual([])
  })
})

describe('ecm api', () => {
  const env = (url: string) => ({ env: { ECM_URL: url, ECM_TOKEN: 'ecm_env' } })

  it('calls an operation with names in the path, the query and the body', async () => {
    using stub = await startStub([json(200, { id: 'cmp_1' })])
    using person = makePerson()
    await person.run(['api', 'listOrders', 'edition_id=edt_1', 'ordering=-created', 'ordering=amount'], env(stub.url))
    await person.run(['api', 'updateCampaign', 'id=cmp_1', 'name=5 = five', 'sms_body:={"en":"Hi"}'], env(stub.url))
    expect(stub.received.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
      { method: 'GET', url: '/v1/orders?edition_id=edt_1&ordering=-created,amount', body: '' },
      { method: 'PATCH', url: '/v1/campaigns/cmp_1', body: '{"name":"5 = five","sms_body":{"en":"Hi"}}' },
    ])
  })

  it('sends the body of a file and of stdin', async () => {
    using stub = await startStub([json(201, { id: 'seg_1' })])
    using person = makePerson()
    writeFileSync(join(person.folder, 'segment.json'), '{"name":"Ø"}')
    await person.run(['api', 'createSegment', '-d', '@segment.json'], env(stub.url))
    await person.run(['api', 'createSegment', '-d', '-'], { ...env(stub.url), stdin: '{"name":"stdin"}' })
    expect(stub.received.map(({ body }) => body)).toEqual(['{"name":"Ø"}', '{"name":"stdin"}'])
    expect(stub.received[0]?.headers['content-type']).toBe('application/json')
  })

  it('prints one array of all pages with --all', async () => {
    using stub = await startStub([page(['a', 'b'], 'https://public.example/v1/orders?page=2'), page(['c'], null)])
    using person = makePerson()
    const { code, stdout } = await person.run(['api', 'listOrders', '--all'], env(stub.url))
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(stub.received[1]?.url).toBe('/v1/orders?page=2')
  })

  it('suggests the name after a typing error, and calls nothing', async () => {
    using stub = await startStub([user])
    using person = makePerson()
    const operation = await person.run(['api', 'lstOrders'], env(stub.url))
    expect(operation).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('listOrders') as unknown })
    const parameter = await person.run(['api', 'listOrders', 'editon_id=edt_1'], env(stub.url))
    expect(parameter).toMatchObject({ code: 2, stderr: expect.stringContaining('edition_id') as unknown })
    for (const id of [[], ['id=']]) {
      const missing = await person.run(['api', 'getOrder', ...id], env(stub.url))
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('id=…') as unknown })
    }
    expect(stub.received).toEqual([])
  })

  it('prints an error of the API on stderr, and ends with 1', async () => {
    using stub = await startStub([problem(403, 'permission_denied')])
    using person = makePerson()
    const { code, stdout, stderr } = await person.run(['api', 'listOrders'], env(stub.url))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({ status: 403, code: 'permission_denied', request_id: 'req_1' })
  })

  it('ends with 1 when nobody answers', async () => {
    using person = makePerson()
    const { code, stderr } = await person.run(['api', 'createSession', 'code=1'], env('http://127.0.0.1:9'))
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'connection_failed' })
  })
})

it('every command has examples in its help', async () => {
  using person = makePerson()
  const { stdout } = await person.run(['--help'])
  const [, list = ''] = /Commands:\n([\s\S]*?)\n\n/.exec(stdout) ?? []
  const commands = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  expect(commands.length).toBeGreaterThanOrEqual(4)
  const helps = await Promise.all(commands.map((command) => person.run([command, '--help'])))
  for (const [index, help] of helps.entries())
    expect(help, commands[index]).toMatchObject({ code: 0, stdout: expect.stringContaining('Example') as unknown })
})

it('an unknown command and an unknown option are wrong usage', async () => {
  using person = makePerson()
  expect(await person.run(['whoareyou'])).toMatchObject({ code: 2, stdout: '' })
  expect(await person.run(['whoami', '--nonsense'])).toMatchObject({ code: 2, stdout: '' })
})
