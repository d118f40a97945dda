import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { build as buildWithVite } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startStub } from '../../packages/client/test/stub.ts'
import { root } from '../../scripts/support/paths.ts'
import { openBrowser } from '../support/browser.ts'

const run = promisify(execFile)
const client = join(root, 'packages', 'client')
const expected = 'ada@example.com a,b consent.given'
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = JSON.stringify({ id: 'evn_1', type: 'consent.given', data: {} })

const program = `
import { createClient, paginate, verifyWebhook } from '@event-commerce/client'
export async function prove(url: string, headers: Record<string, string>): Promise<string> {
  const client = createClient({ url, token: 'ecm_test' })
  const { data } = await client.GET('/v1/auth/user-info')
  const ids: string[] = []
  for await (const order of paginate(client, '/v1/orders')) ids.push(order.id)
  const params = { path: { id: 'cmp_1' } }
  await client.PATCH('/v1/campaigns/{id}', { params, body: { name: 'Late birds' } })
  const event = verifyWebhook(${JSON.stringify(body)}, headers, ${JSON.stringify(secret)})
  return [data.email, ids.join(), event.type].join(' ')
}
`

let folder: string
let packed: { filename: string }
let stub: Awaited<ReturnType<typeof startStub>>
let page = ''
const sign = () => {
  const at = new Date()
  const signature = new Webhook(secret).sign('evn_1', at, body)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return { 'webhook-id': 'evn_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

const orders = (path: string) => {
  const isFirst = !path.includes('page=2')
  const next = isFirst ? 'https://api.example.com/v1/orders?page=2' : null
  return json(200, { count: 2, next, previous: null, results: [{ id: isFirst ? 'a' : 'b' }] })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-package-'))
  stub = await startStub((path) => {
    if (path === '/') return (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page)
    return path.startsWith('/v1/orders') ? orders(path) : json(200, { email: 'ada@example.com' })
  })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: client })
  const report = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as Record<string, typeof packed>
  packed = Object.values(report)[0] as typeof packed
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  const platform = `${process.platform}-${process.arch}`
  const nodes = [20, 22, 24].map((version) => `node${version}@npm:node-${platform}@${version}`)
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  await run('npm', ['install', ...options, join(folder, packed.filename), ...nodes], { cwd: folder })
  await writeFile(join(folder, 'prove.ts'), program)
}, 300_000)
afterAll(async () => {
  stub?.[Symbol.dispose]()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const bundle = async (entry: string, options: object = {}): Promise<string> => {
  const stdin = { contents: entry, resolveDir: folder, loader: 'ts' as const }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', minify: true, ...options })
  return outputFiles?.[0]?.text ?? ''
}

/** Builds a script of a page as a project with Vite does. */
async function buildPage(entry: string): Promise<string> {
  await writeFile(join(folder, 'page.ts'), entry)
  const options = { target: 'es2022', write: false, rolldownOptions: { input: join(folder, 'page.ts') } }
  const result = await buildWithVite({ root: folder, configFile: false, logLevel: 'error', build: options })
  const [output] = 'output' in result ? result.output : []
  return output?.code ?? ''
}

it.each([20, 22, 24])('runs from its package in Node %i, with its command line', async (version) => {
  const node = join(folder, 'node_modules', `node${version}`, 'bin', 'node')
  const file = join(folder, `main${version}.mjs`)
  const code = await bundle(
    `${program}\nconsole.log(process.version, await prove(${JSON.stringify(stub.url)}, ${JSON.stringify(sign())}))`,
    { external: ['@event-commerce/client'] },
  )
  await writeFile(file, code)
  const { stdout } = await run(node, [file])
  expect(stdout).toMatch(new RegExp(`^v${version}\\.\\S+ ${expected}\n$`))
  const ecm = join(folder, 'node_modules', '.bin', 'ecm')
  const { stdout: text } = await run(node, [ecm, '--version'])
  expect(text.trim()).toMatch(/^\d+\.\d+\.\d+$/)
})

it('runs in a page, which stays small', async () => {
  const call = `prove(location.origin, ${JSON.stringify(sign())}).then(show, show)`
  const entry = `${program}\nconst show = (text: unknown) => { document.title = String(text) }\nawait ${call}`
  const code = await buildPage(entry)
  // The table of operations is large, and only the command line needs it.
  expect(code).not.toContain('listAccessTokens')
  expect(gzipSync(code).length).toBeLessThan(15_000)
  page = `<!doctype html><title></title><script type="module">${code.replaceAll('</script', '<\\/script')}</script>`
  const browser = await openBrowser()
  try {
    await browser.send('Page.navigate', { url: `${stub.url}/` })
    const readTitle = () => browser.evaluate<string>('document.title')
    await expect.poll(readTitle, { timeout: 30_000, interval: 200 }).toBe(expected)
  } finally {
    await browser.stop()
  }
})

it('runs in a Worker', async () => {
  const script = await bundle(`${program}
export default { async fetch(request) {
  return new Response(await prove(${JSON.stringify(stub.url)}, ${JSON.stringify(sign())}))
} }`)
  const worker = new Miniflare(convertV4MiniflareOptions({ modules: true, script, compatibilityDate: '2026-01-01' }))
  try {
    expect(await (await worker.dispatchFetch('http://worker/')).text()).toBe(expected)
  } finally {
    await worker.dispose()
  }
})

const compilers = [join(client, 'node_modules', 'typescript'), join(root, 'node_modules', 'typescript')]

it('compiles strictly in the projects of others, and so do the examples of its page', async () => {
  const text = await readFile(join(client, 'README.md'), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block)
  expect(blocks.length).toBeGreaterThan(5)
  const ids = ['edition', 'campaign', 'organization'].map((name) => `declare const ${name}Id: string`).join('\n')
  const setup = `import { createClient } from '@event-commerce/client'\nconst client = createClient({ url: '' })\n${ids}\n`
  const names = await Promise.all(
    blocks.map(async (block, at) => {
      const isWhole = block.includes('const client =') || !block.includes('client')
      await writeFile(join(folder, `example${at}.ts`), `${isWhole ? ids : setup}\n${block}\nexport {}\n`)
      return `example${at}.ts`
    }),
  )
  const globals =
    'declare const process: { env: Record<string, string | undefined> }\n// A library of the client has it in its types.\ntype Buffer = Uint8Array\n'
  await writeFile(join(folder, 'globals.d.ts'), globals)
  for (const compiler of compilers)
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ]) {
      const options = { strict: true, noEmit: true, target: 'es2022', lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'] }
      const compilerOptions = { ...options, types: [], skipLibCheck: false, module, moduleResolution: resolution }
      const config = { compilerOptions, files: ['globals.d.ts', 'prove.ts', ...names] }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const check = run(process.execPath, [join(compiler, 'bin', 'tsc'), '-p', folder], { cwd: folder })
      const errors = await check.then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      )
      expect(errors, `${compiler} ${resolution}`).toBe('')
    }
})
