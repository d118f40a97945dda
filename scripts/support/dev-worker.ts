import { context } from 'esbuild'
import type { Miniflare } from 'miniflare'
import { readFileSync, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Unstable_Config } from 'wrangler'
import { migrate } from './migrate.ts'
import { consoleFolder, consoleProgram, root } from './paths.ts'
import { otherSchemaCode, startNode } from './processes.ts'

/**
 * Does what `wrangler d1 migrations apply --local` and `wrangler dev` do, in one process: the program is bundled while
 * Wrangler loads, the migrations run and the simulator starts. Wrangler reads the configuration; Miniflare is its
 * simulator.
 */
const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({
  options: { 'persist-to': text, port: text, program: text, 'build-console': flag, production: flag },
})
const { 'persist-to': folder, port, program = join(root, 'src', 'index.ts') } = values
if (!folder || !port) throw new Error('--persist-to and --port are given.')

const isProduction = values.production

/** Options that help to develop, and show or change data without a token. */
const developmentOptions = (environment: NodeJS.ProcessEnv) => ({
  ...(environment['INSPECTOR_PORT'] ? { inspectorPort: Number(environment['INSPECTOR_PORT']) } : {}),
  unsafeTriggerHandlers: true,
  unsafeObservability: environment['X_LOCAL_OBSERVABILITY'] === 'true',
  unsafeLocalExplorer: environment['X_LOCAL_EXPLORER'] === 'true',
})
const variables = JSON.parse(process.env['WORKER_VARIABLES'] ?? '{}') as Record<string, string>
const bundleFolder = join(folder, 'bundle')
const minuteMs = 60_000

let reload: (() => Promise<void>) | undefined
const bundled = Promise.withResolvers<void>()
// The promise may fail before anything awaits it.
bundled.promise.catch(() => undefined)

async function onBundle({ errors }: { errors: unknown[] }): Promise<void> {
  if (errors.length > 0) return bundled.reject(new Error('The Worker was not bundled.'))
  bundled.resolve()
  await reload?.()
}

// With its default, esbuild spends a quarter of its time on collecting garbage.
process.env['GOGC'] ??= '400'
const bundler = await context({
  entryPoints: { bundle: program },
  outdir: bundleFolder,
  bundle: true,
  format: 'esm',
  target: 'es2024',
  conditions: ['workerd', 'worker', 'browser'],
  external: ['cloudflare:*', 'node:*', '*.wasm'],
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [{ name: 'reload', setup: (build) => build.onEnd(onBundle) }],
})
if (isProduction) void bundler.rebuild().then(() => bundler.dispose(), bundled.reject)
else await bundler.watch()

/** Builds the console in a process of its own, which gives the memory back. */
const consoleBuild = values['build-console']
  ? startNode([consoleProgram, '--if-changed']).ended
  : Promise.resolve({ code: 0, output: '' })

/** The simulator lists the assets when it starts, so it starts again after each build. A missing file is reported too. */
function watchConsole(): void {
  watchFile(join(consoleFolder, 'index.html'), { interval: 500 }, ({ mtimeMs }) => void (mtimeMs > 0 && reload?.()))
}

/** The module that the simulator loads first. It requests the bundle. */
const entry = `export * from './bundle.js'\nexport { default } from './bundle.js'`

/** The only WebAssembly module, with the name that the sources import. */
const wasm = 'mrml/web/mrml_wasm_bg.wasm'

/** Outgoing requests of benches bypass the simulator's Worker, so that it is not measured. */
const internet = { network: { allow: ['public', 'private'], tlsOptions: { trustBrowserCas: true } } }

/** Maps the positions in the stack of an error from the bundle to the sources. */
function mapPositions(message: string): string {
  if (!message.includes('bundle.js:')) return message
  const map = new SourceMap(JSON.parse(readFileSync(join(bundleFolder, 'bundle.js.map'), 'utf8')) as SourceMapPayload)
  return message.replaceAll(/[^\s("]*\bbundle\.js:(\d+):(\d+)/g, (place, line: string, column: string) => {
    const origin = map.findOrigin(Number(line), Number(column))
    return 'fileName' in origin
      ? `${join(bundleFolder, origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`
      : place
  })
}

/** Logs of servers for others are lines of JSON. The runtime itself writes texts. */
function writeLog({ level, message }: { level: string; message: string }): void {
  const line = mapPositions(message)
  console.log(isProduction && !line.startsWith('{') ? JSON.stringify({ level, message: line }) : line)
}

/** Runs the cron trigger of each minute. The first run finds the work that queues lost when the last process ended. */
function runSweeps(miniflare: Miniflare): void {
  const run = async () => {
    const worker = await miniflare.getWorker()
    await worker.scheduled({ cron: '* * * * *' })
  }
  const runAndLog = () =>
    void run().catch((error: unknown) => writeLog({ level: 'error', message: `The sweeps failed. ${String(error)}` }))
  // The runtime ends at the same moment, and sweeps under way would be logged as failed.
  process.once('SIGTERM', () => process.exit())
  runAndLog()
  setInterval(runAndLog, minuteMs)
}

/** Replaces the limit in wrangler.toml by the variable, because the limit of a binding is static. */
function setLimit({ ratelimits }: Unstable_Config, limit: number): void {
  for (const limiter of ratelimits) {
    if (limiter.name === 'RATE_LIMITER') limiter.simple.limit = limit
    if (limiter.name === 'MEMBER_RATE_LIMITER') limiter.simple.limit = 2 * limit
  }
}

/** Starts serving. Returns false when other migrations created the database. */
async function serve(persistFolder: string): Promise<boolean> {
  // `import` would compile the 15 MB of Wrangler twice to detect the kind of module.
  const require = createRequire(import.meta.url)
  const { unstable_getMiniflareWorkerOptions, unstable_readConfig } = require('wrangler') as typeof import('wrangler')
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } =
    require('miniflare') as typeof import('miniflare')
  const config = unstable_readConfig({ config: join(root, 'wrangler.toml') })
  const limit = Number(variables['RATE_LIMIT_PER_MINUTE'])
  if (limit) setLimit(config, limit)
  const { workerOptions } = unstable_getMiniflareWorkerOptions(config)
  const [database] = config.d1_databases
  if (!database) throw new Error('wrangler.toml has no database.')
  // Wrangler and Miniflare name the local database like this too.
  const databaseId = database.preview_database_id ?? database.database_id ?? database.binding
  if (!migrate(persistFolder, databaseId)) return false

  const options = convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: Number(port),
    log: new Log(LogLevel.WARN),
    logRequests: false,
    handleStructuredLogs: writeLog,
    resourcePersistencePath: persistFolder,
    ...(isProduction ? {} : developmentOptions(process.env)),
    // The simulator starts before the bundle is ready, and waits for it here.
    unsafeModuleFallbackService: async (request) => {
      await bundled.promise
      if (new URL(request.url).searchParams.get('specifier') !== '/bundle.js')
        return new Response(null, { status: 404 })
      return Response.json({ name: 'bundle.js', esModule: await readFile(join(bundleFolder, 'bundle.js'), 'utf8') })
    },
    workers: [
      {
        ...workerOptions,
        // Wrangler adds the variables of .dev.vars, which only `wrangler dev` should use.
        bindings: { ...config.vars, ...variables },
        serviceBindings: values.program ? { INTERNET: internet } : {},
        name: 'service',
        modulesRoot: bundleFolder,
        modules: [
          { type: 'ESModule', path: join(bundleFolder, 'entry.js'), contents: entry },
          { type: 'CompiledWasm', path: join(bundleFolder, wasm), contents: await readFile(require.resolve(wasm)) },
        ],
        unsafeUseModuleFallbackService: true,
      },
    ],
  })
  const { code, output } = await consoleBuild
  if (code !== 0) throw new Error(`The console was not built.\n${output}`)
  const miniflare = new Miniflare(options)
  await Promise.all([bundled.promise, miniflare.ready])
  if (isProduction) runSweeps(miniflare)
  else {
    reload = () => miniflare.setOptions(options)
    watchConsole()
  }
  return true
}

async function end(code: number): Promise<never> {
  await bundler.dispose()
  process.exit(code)
}

try {
  if (!(await serve(join(folder, 'v3')))) await end(otherSchemaCode)
} catch (error) {
  console.error(error)
  await end(1)
}
