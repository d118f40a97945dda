import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { glob, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { root } from '../../scripts/support/paths.ts'
import { reservePort } from '../../scripts/support/processes.ts'
import { examples } from '../../src/domain/cel/functions.ts'
import { launch, type Launcher } from '../support/launcher.ts'

const run = promisify(execFile)

interface Block {
  heading: string
  text: string
}

/** Lists the code blocks of this language, each with its second-level heading. */
function listBlocks(text: string, language: string): Block[] {
  return text.split(/^## /m).flatMap((section) => {
    const heading = section.split('\n', 1)[0] ?? ''
    const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))
    return [...blocks].map(([, block = '']) => ({ heading, text: block }))
  })
}

const install = '# Event Commerce Management Service'
const deployment = 'docs/deploying.md'
const wranglerAlone = 'On this machine, with Wrangler alone'
/** The commands of this page need the receiver that the page shows. */
const webhooksGuide = 'docs/webhooks.md'
const binaries = join(root, 'node_modules', '.bin')
const setVariables = '. .wrangler/state/demo.sh'

const read = (path: string) => readFile(join(root, path), 'utf8')
const pagesIn = async (pattern: string) => (await Array.fromAsync(glob(pattern, { cwd: root }))).toSorted()
const pages = ['README.md', ...(await pagesIn('docs/{,recipes/}*.md'))].filter((path) => path !== deployment)
const texts = new Map(await Promise.all(pages.map(async (path) => [path, await read(path)] as const)))
const listCommands = (path: string): string =>
  listBlocks(texts.get(path) ?? '', 'sh')
    .filter(({ heading }) => heading !== install && heading !== wranglerAlone)
    .map(({ text }) => text)
    .join('\n')
const pagesWithCommands = pages.filter((path) => listCommands(path) !== '')

let folder: string
let launcher: Launcher
let client: Client
const variables: Record<string, string> = {}
/** The editions of the demonstration data. The commands of some pages create others. */
let demoEditionIds: string[]
let demoDeliveries: { id: string; status: string; attempts: number }[]
beforeAll(async () => {
  // The commands run as in a fresh clone, with the default state folder.
  folder = await mkdtemp(join(tmpdir(), 'slow-readme-'))
  const [, webhookVariables = ''] = /`(\w+=\S+(?: \w+=\S+)*) npm start`/.exec(texts.get(webhooksGuide) ?? '') ?? []
  const stateDir = join(folder, '.wrangler', 'state')
  const settings = parseEnv(webhookVariables.replaceAll(' ', '\n'))
  launcher = await launch({ ...settings, STATE_DIR: stateDir, SEED: '1' }, folder)
  await launcher.ready
  for (const [, name = '', value = ''] of launcher.output().matchAll(/^export (\w+)=(.*)$/gm)) variables[name] = value
  client = createClient(variables['API'] ?? '', variables['TOKEN'] ?? '')
  const { results } = await client.get<Page<{ id: string }>>(`/v1/editions?organization_id=${variables['ORG']}`)
  demoEditionIds = results.map(({ id }) => id)
  demoDeliveries = await listDeliveries(variables['WEBHOOK'] ?? '')
}, 240_000)
afterAll(async () => {
  launcher?.kill('SIGTERM')
  await launcher?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const listDeliveries = async (endpoint: string) =>
  (await client.get<Page<{ id: string; status: string; attempts: number }>>(`/v1/webhooks/${endpoint}/deliveries`))
    .results

/** Runs the commands of a page in one shell, and returns the number of requests. Throws when one is refused. */
async function runPage(commands: string, preparation = ''): Promise<number> {
  const script = [
    'set -eu',
    preparation,
    ': > requests; : > refusals',
    // The package of the command line is not installed in the folder.
    `npx() { env HOME="$PWD" XDG_CONFIG_HOME= XDG_STATE_HOME= ECM_URL= ECM_TOKEN= PATH='${binaries}':"$PATH" "$@"; }`,
    `npm() { env STATE_DIR="$PWD/.wrangler/state" PATH='${binaries}':"$PATH" npm --prefix '${root}' "$@"; }`,
    'curl() { echo >> requests; command curl --silent --show-error --fail-with-body "$@" || { echo "$*" >> refusals; return 22; }; }',
    ...(commands.includes(setVariables) ? [] : [setVariables]),
    commands,
  ].join('\n')
  const { stdout } = await run('sh', ['-c', script], { cwd: folder })
  expect(await readFile(join(folder, 'refusals'), 'utf8'), stdout).toBe('')
  return (await readFile(join(folder, 'requests'), 'utf8')).length
}

describe('the commands in README.md and docs', () => {
  it.each(pagesWithCommands.filter((path) => path !== webhooksGuide))(
    'run from top to bottom as written in %s, and none is refused',
    async (path) => {
      const commands = listCommands(path)
      expect(commands).not.toContain('…')
      // A page that waits for something asks more often.
      expect(await runPage(commands)).toBeGreaterThanOrEqual(
        [...commands.matchAll(/^(?:\w+=\$\()?(?:curl|post) /gm)].length,
      )
    },
  )

  it('are in README.md and in the pages of features', () => {
    expect(pagesWithCommands).toEqual(expect.arrayContaining(['README.md', 'docs/api.md', 'docs/orders.md']))
    expect(pagesWithCommands.length).toBeGreaterThan(7)
  })

  it('send a first campaign, in README.md', async () => {
    const campaigns = async () => {
      const { results } = await client.get<Page<{ name: string; status: string }>>(
        `/v1/campaigns?organization_id=${variables['ORG']}&page_size=500`,
      )
      return results.filter(({ name }) => name === 'Practical information').map(({ status }) => status)
    }
    await expect.poll(campaigns, { timeout: 120_000 }).toEqual(['sent'])
  })

  it('leave a database without faults', async () => {
    // `runPage` throws when the command finds some.
    expect(await runPage('npm run verify')).toBe(0)
  })

  it('use scripts of package.json', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: object }
    const [block] = listBlocks(texts.get('README.md') ?? '', 'sh').filter(({ heading }) => heading === install)
    expect(block?.text).toMatch(/^npm ci && npm start /)
    const named = [...(texts.get('docs/testing.md') ?? '').matchAll(/^\| `npm run ([\w:]+)`/gm)]
    expect(named.length).toBeGreaterThan(5)
    for (const [, name = ''] of named) expect(scripts).toHaveProperty([name])
  })

  it('are the same for Wrangler on all pages, and set variables that exist', async () => {
    const [, inline = ''] = /`(cp \.dev\.vars\.example .*?)`/.exec(texts.get('README.md') ?? '') ?? []
    const commands = inline.split(' && ')
    expect(commands).toHaveLength(3)
    const [block] = listBlocks(texts.get('docs/testing.md') ?? '', 'sh').filter(
      ({ heading }) => heading === wranglerAlone,
    )
    for (const command of commands) expect(block?.text).toMatch(new RegExp(`^${RegExp.escape(command)}( |$)`, 'm'))
    const names = Object.keys(parseEnv(await read('.dev.vars.example')))
    expect(names).toContain('ROOT_TOKEN')
    for (const name of names) expect(texts.get('docs/settings.md')).toContain(`\`${name}\``)
  })

  it('contain only valid expressions', async () => {
    const [block] = listBlocks(texts.get('docs/segments.md') ?? '', '')
    const expressions = block?.text.trim().split('\n') ?? []
    expect(expressions.length).toBeGreaterThan(1)
    for (const expression of expressions)
      expect(
        await client.post('/v1/segments/validate-cel', { organization_id: variables['ORG'], expression }),
      ).toMatchObject({ is_valid: true })
  })
})

describe('the steps of docs/webhooks.md', () => {
  interface Delivery {
    event_id: string
    payload: string
    signature: string
    signed_at: string
    status: string
  }
  let port: number
  let endpoint: string
  const readOutput = () => readFile(join(folder, 'output'), 'utf8')
  // The answers in the output end without a line break.
  const listEvents = async () => (await readOutput()).match(/purchase\.action \w+ pur_\w{26}$/gm) ?? []
  const post = async (body: string, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status

  beforeAll(async () => {
    const [program] = listBlocks(texts.get(webhooksGuide) ?? '', 'js')
    await writeFile(join(folder, 'receiver.mjs'), program?.text ?? '')
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    port = await reservePort(0)
    const url = `http://127.0.0.1:${port}`
    const preparation = [
      `export PORT=${port} RECEIVER=${url}`,
      // The receiver stays after the shell, so it writes to a file.
      'exec > output 2>&1',
      `trap 'echo "\${!:-}" > receiver.pid; echo "\${ENDPOINT:-}" > endpoint' EXIT`,
    ]
    const waitForReceiver = `until command curl -s -o /dev/null ${url}; do kill -0 $!; sleep 0.1; done`
    const commands = listCommands(webhooksGuide).replace(/ &$/m, ` &\n${waitForReceiver}`)
    expect(commands).toContain(waitForReceiver)
    await runPage(commands, preparation.join('\n')).catch(async (error: unknown) => {
      throw new Error(await readOutput(), { cause: error })
    })
    endpoint = (await readFile(join(folder, 'endpoint'), 'utf8')).trim()
  })
  afterAll(async () => {
    const pid = Number(await readFile(join(folder, 'receiver.pid'), 'utf8'))
    if (pid > 0) process.kill(pid)
  })

  it('bring the events of two tickets and of the example to the receiver, which verifies them', async () => {
    const listStatuses = async () => (await listDeliveries(endpoint)).map(({ status }) => status)
    await expect.poll(listStatuses, { timeout: 120_000 }).toEqual(['success', 'success', 'success'])
    const lines = await listEvents()
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line).toContain(' activated ')
    expect(new Set(lines).size).toBe(3)
  })

  it('handle a repetition once, and refuse forgeries', async () => {
    const [{ id } = { id: '' }] = await listDeliveries(endpoint)
    await client.post(`/v1/webhooks/${endpoint}/test`, { event: 'purchase.action' })
    const { payload, ...delivery } = await client.get<Delivery>(`/v1/webhooks/${endpoint}/deliveries/${id}`)
    const headers = {
      'webhook-id': delivery.event_id,
      'webhook-timestamp': String(Date.parse(delivery.signed_at) / 1000),
      'webhook-signature': delivery.signature,
    }
    await expect.poll(listEvents, { timeout: 120_000 }).toHaveLength(4)
    expect(await post(payload, headers)).toBe(204)
    expect(await post(payload.replace('activated', 'cancelled'), headers)).toBe(400)
    expect(await post(payload, { ...headers, 'webhook-id': 'evn_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' })).toBe(400)
    expect(await post(payload, {})).toBe(400)
    expect(await listEvents()).toHaveLength(4)
  })

  it('announce nothing without emit_webhooks', async () => {
    const before = await listDeliveries(endpoint)
    const orders = [
      {
        external_id: 'silent',
        currency: 'dkk',
        customer: { email: 'ida@example.dk' },
        items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
      },
    ]
    const tenant = { organization_id: variables['ORG'], edition_id: variables['EDITION'] }
    const { created_orders } = await client.post<{ created_orders: number }>('/v1/data-imports/external-orders', {
      ...tenant,
      source: 'webshop',
      orders,
    })
    expect(created_orders).toBe(1)
    expect(await listDeliveries(endpoint)).toHaveLength(before.length)
  })
})

describe('the demonstration data', () => {
  const readAll = async <Item>(path: string) => {
    const mark = path.includes('?') ? '&' : '?'
    return (await client.get<Page<Item>>(`${path}${mark}organization_id=${variables['ORG']}&page_size=500`)).results
  }

  it('include a past edition, a published current one and a future one, in five languages', async () => {
    const editions = await readAll<{ id: string; status: string; is_draft: boolean }>('/v1/editions')
    const demoEditions = editions.filter(({ id }) => demoEditionIds.includes(id))
    expect(demoEditions.map(({ status }) => status).toSorted()).toEqual(['current', 'past', 'upcoming'])
    expect(demoEditions.filter(({ is_draft }) => !is_draft).map(({ id }) => id)).toEqual([variables['EDITION']])
    const edition = await client.get<{ enabled_languages: string[] }>(`/v1/editions/${variables['EDITION']}`)
    expect(edition.enabled_languages).toEqual(['en', 'da', 'se', 'nl', 'pl'])
  })

  it('include customers who checked in, and others who did not', async () => {
    const visitTimes = (await readAll<{ last_seen: string | null }>('/v1/user')).map(({ last_seen }) => last_seen)
    expect(visitTimes.filter((time) => time !== null && Date.parse(time) < Date.now()).length).toBeGreaterThan(20)
    expect(visitTimes).toContain(null)
  })

  it('include a segment for each example of the reference, with members unless they depend on the day', async () => {
    const ofDays = ['Came on a Saturday', 'Bought in the 14 days before the edition began']
    const sizes = async () => {
      const segments = await readAll<{ name: string; status: string; user_count: number }>('/v1/segments')
      const ready = segments.filter(
        ({ name, status, user_count }) => status === 'ready' && (user_count > 0 || ofDays.includes(name)),
      )
      return ready.map(({ name }) => name)
    }
    await expect.poll(sizes, { timeout: 60_000 }).toEqual(expect.arrayContaining(examples.map(({ title }) => title)))
  })

  it('include given and withdrawn consents', async () => {
    const countOf = async (expression: string) => {
      const request = { organization_id: variables['ORG'], expression }
      const answer = await client.post<{ estimated_user_count: number }>('/v1/segments/validate-cel', request)
      return answer.estimated_user_count
    }
    const people = (await readAll('/v1/user')).length
    const agreed = await countOf('has(consents.newsletter) && consents.newsletter.is_current')
    const withdrawn = await countOf('has(consents.newsletter) && consents.newsletter.status == "withdrawn"')
    expect(agreed).toBeGreaterThan(people / 3)
    expect(withdrawn).toBeGreaterThan(1)
    expect(agreed + withdrawn).toBeLessThan(people)
  })

  it('include a campaign that was sent, opened, clicked, and unsubscribed from', async () => {
    expect(await client.get(`/v1/campaigns/${variables['CAMPAIGN']}`)).toMatchObject({ status: 'sent' })
    const stats = await client.get<Record<string, number>>(`/v1/campaigns/${variables['CAMPAIGN']}/stats`)
    expect(stats).toMatchObject({ opened: 6, clicked: 3, unsubscribed: 1, failed: 0 })
  })

  it('include delivered webhooks, one of them at the second attempt, and a failed one', async () => {
    const outcomes = demoDeliveries.map(({ status, attempts }) => `${status} ${attempts}`).toSorted()
    expect(outcomes).toEqual(['exhausted 10', ...Array.from({ length: 6 }, () => 'success 1'), 'success 2'])
    const lost = demoDeliveries.find(({ status }) => status === 'exhausted')
    const path = `/v1/webhooks/${variables['WEBHOOK']}/deliveries/${lost?.id}`
    const { attempt_log } = await client.get<{ attempt_log: object[] }>(path)
    expect(attempt_log).toHaveLength(10)
    expect(attempt_log[9]).toMatchObject({ number: 10, status_code: 503, next_retry_at: null })
  })
})

describe('the examples of the typed client', () => {
  const page = join(root, 'packages', 'client', 'README.md')
  const setup = `import { createClient } from '@event-commerce/client'
const client = createClient({ url: process.env.ECM_URL!, token: process.env.ECM_TOKEN! })`
  const ids = `const editionId = process.env.EDITION!, campaignId = process.env.CAMPAIGN!, organizationId = process.env.ORG!`

  it('run against the service, and print what they find', async () => {
    const blocks = listBlocks(await readFile(page, 'utf8'), 'ts')
    expect(blocks.length).toBeGreaterThan(5)
    const url = new URL(variables['API'] ?? '').origin
    const env = { ...process.env, ...variables, ECM_URL: url, ECM_TOKEN: variables['TOKEN'] }
    for (const [index, { heading, text: example }] of blocks.entries()) {
      const text = example.replaceAll('https://api.example.com', url)
      const file = join(folder, `example-${index}.mjs`)
      await build({
        stdin: { contents: `${text.includes('const client =') ? '' : setup}\n${ids}\n${text}`, loader: 'ts' },
        alias: { '@event-commerce/client': join(root, 'packages', 'client', 'src', 'index.ts') },
        nodePaths: [join(root, 'node_modules')],
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'es2024',
        outfile: file,
      })
      const { stdout } = await run(process.execPath, [file], { env, timeout: 60_000 })
      const isSilent = heading === 'Retries' || heading === 'Webhooks' || text.includes('PreconditionFailedError')
      expect(stdout === '', `${heading}: ${stdout}`).toBe(isSilent)
    }
  })
})
