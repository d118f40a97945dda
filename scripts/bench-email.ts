import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { benchHostileTemplates } from './bench/hostile-emails.ts'
import { createClient } from './support/client.ts'
import { wranglerProgram } from './support/paths.ts'
import { startNode } from './support/processes.ts'
import { startServer } from './support/server.ts'

/**
 * What messages cost in the Workers runtime: personalised a second, compiled once for a language, and how large the
 * Worker is with it all. The clock stands outside: requests of much work against requests of none. Before that, what
 * hostile templates cost; ONLY=hostile ends there.
 */
const rounds = Number(process.env['ROUNDS'] ?? 5)
const recipients = Number(process.env['RECIPIENTS'] ?? 5000)
const compilations = 200
const goal = 5000

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

benchHostileTemplates()
if (process.env['ONLY'] === 'hostile') process.exit()

const folder = await mkdtemp(join(tmpdir(), 'bench-email-'))
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function bundleSize(): Promise<{ raw: number; gzip: number }> {
  const args = [wranglerProgram, 'deploy', '--dry-run', '--outdir', join(folder, 'bundle')]
  const { code, output } = await startNode(args, { env: { WRANGLER_SEND_METRICS: 'false' }, signal: quit.signal }).ended
  if (code !== 0) throw new Error(output)
  const names = (await readdir(join(folder, 'bundle'))).filter((name) => /\.(js|wasm)$/.test(name))
  const files = await Promise.all(names.map((name) => readFile(join(folder, 'bundle', name))))
  return {
    raw: files.reduce((sum, file) => sum + file.length, 0),
    gzip: files.reduce((sum, file) => sum + gzipSync(file).length, 0),
  }
}

const server = await startServer({
  port: 0,
  stateDir: join(folder, 'state'),
  env: { RATE_LIMIT_PER_MINUTE: '0' },
  program: 'scripts/bench/worker.ts',
  signal: quit.signal,
})
const client = createClient(server.url, server.rootToken)

async function msOf(path: string, count: number): Promise<number> {
  const started = performance.now()
  await client.post(path, { count })
  return performance.now() - started
}

/** Milliseconds of one of them, the request itself taken off. */
async function each(path: string, count: number): Promise<number[]> {
  await msOf(path, Math.min(count, 500))
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const idle = await msOf(path, 0)
    times.push(((await msOf(path, count)) - idle) / count)
  }
  return times
}

try {
  const rendered = await each('/floor/emails/personalise', recipients)
  const perSecond = rendered.map((ms) => 1000 / ms)
  console.log(
    `personalised   ${median(perSecond).toFixed(0)} messages/s (${Math.min(...perSecond).toFixed(0)} to ${Math.max(...perSecond).toFixed(0)}), ten blocks and six links; the goal is ${goal}`,
  )
  const compiled = await each('/floor/emails/compile', compilations)
  console.log(`compiled       ${median(compiled).toFixed(2)} ms for a language`)
  const { raw, gzip } = await bundleSize()
  console.log(`the Worker     ${(gzip / 1024).toFixed(0)} KB gzip, ${(raw / 1024).toFixed(0)} KB raw`)
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
