import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson, waitForText } from '../../packages/client/test/ecm.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { developmentRootToken } from '../../scripts/support/server.ts'
import { launch, type Launcher } from '../support/launcher.ts'

const person = makePerson()
const email = 'astrid@nordlys.example'

let server: Launcher
let url: string
let root: Client
let organizationId: string

beforeAll(async () => {
  server = await launch({ STATE_DIR: join(person.folder, 'state') })
  await server.ready
  url = `http://127.0.0.1:${server.port}`
  root = createClient(url, developmentRootToken)
  const { id } = await root.post<{ id: string }>('/v1/organizations', { name: 'Nordlys' })
  organizationId = id
  await root.post(`/v1/organizations/${id}/members`, { email, role: 'manager' })
}, 300_000)
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  person[Symbol.dispose]()
})

interface Report {
  is_healthy: boolean
  checks: { check: string; status: string; detail: string; remedy: string | null }[]
}

async function examine(env: Record<string, string> = {}): Promise<Report & { code: number | null }> {
  const { code, stdout } = await person.run(['doctor'], { env })
  return { code, ...(JSON.parse(stdout) as Report) }
}

describe('in the folder of npm start', () => {
  it('ecm doctor finds nothing wrong, without any setting', async () => {
    const { code, is_healthy, checks } = await examine()
    expect(checks.filter(({ status }) => status === 'fault')).toEqual([])
    expect({ code, is_healthy }).toEqual({ code: 0, is_healthy: true })
    const details = new Map(checks.map(({ check, detail }) => [check, detail]))
    expect(details.get('version')).toContain('the same')
    expect(details.get('token')).toContain('the local server of this folder')
    expect(details.get('links')).toBe(`Links begin with ${url}.`)
    expect(details.get('e-mail')).toContain('/dev/outbox')
    expect(details.get('services')).toBe('No service that the API needs fails.')
    expect(details.get('webhooks')).toContain('Nordlys has 0 endpoints')
  })

  it('ecm doctor finds a domain that is not verified, and ends with 1', async () => {
    const { id } = await root.post<{ id: string }>(`/v1/organizations/${organizationId}/sender-domains`, {
      domain: 'nordlys.example',
    })
    const running = person.start(['doctor'], {}, { isTerminal: true })
    expect(await running.ended).toBe(1)
    expect(running.output()).toMatch(/✗ sender domains +nordlys.example of Nordlys is not verified/)
    const [, verify = ''] = /`ecm (api verifySenderDomain [^`]+)`/.exec(running.output()) ?? []
    await person.run(verify.split(' '))
    await root.post(`/v1/organizations/${organizationId}/sender-domains/${id}/verify`, { by_hand: true })
    expect(await examine()).toMatchObject({ code: 0, is_healthy: true })
  })

  it('ecm doctor finds a token that is not valid', async () => {
    const { code, checks } = await examine({ ECM_URL: url, ECM_TOKEN: 'ecm_wrong' })
    expect(code).toBe(1)
    expect(checks.at(-1)).toMatchObject({ check: 'token', status: 'fault', remedy: `Run \`ecm login --url ${url}\`.` })
  })
})

describe('ecm login', () => {
  it('asks for the address and the code that comes by e-mail, without colours', async () => {
    using other = makePerson()
    const running = other.start(['login', '--url', url], {}, { isTerminal: true })
    let at = await waitForText(running, 'Your e-mail address')
    running.press(`${email}\r`)
    at = await waitForText(running, 'The code of 8 digits', at)
    running.press(`${await readCode()}\r`)
    await waitForText(running, `Signed in at ${url} as ${email}`, at)
    expect(await running.ended).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(running.output()).not.toMatch(/\u001b\[[\d;]*m/)
    const stored = readFileSync(join(other.folder, 'config', 'ecm', 'credentials.json'), 'utf8')
    expect(stored).toContain(url)
    const { checks } = JSON.parse((await other.run(['doctor'])).stdout) as Report
    expect(checks.filter(({ status }) => status === 'fault')).toEqual([])
    expect(checks.find(({ check }) => check === 'token')?.detail).toContain('A session token')
    expect(checks.find(({ check }) => check === 'roles')?.detail).toContain('manager in Nordlys')
    expect((await other.run(['logout'])).code).toBe(0)
    expect((await other.run(['whoami'])).code).toBe(2)
  })

  async function readCode(): Promise<string> {
    const read = async () => {
      const { results } = await root.get<Page<{ id: string }>>(`/dev/outbox.json?to=${email}`)
      const [message] = results
      if (!message) return null
      const { text } = await root.get<{ text: string }>(`/dev/outbox/${message.id}.json`)
      return /^\d{8}$/m.exec(text)?.[0] ?? null
    }
    await expect.poll(read, { timeout: 60_000 }).not.toBeNull()
    return (await read()) ?? ''
  }
})
