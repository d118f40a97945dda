import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { unstable_startWorker } from 'wrangler'

/**
 * `wrangler dev` without its inspector, which has no switch on the command line. Each line that the Worker logs takes
 * the inspector some milliseconds, so it runs where INSPECTOR_PORT names its port.
 */
const text = { type: 'string' } as const
const { values } = parseArgs({
  options: { config: text, program: text, 'persist-to': text, 'env-file': text, port: text },
})

const hostname = '127.0.0.1'
const { config, program, port } = values
const persist = values['persist-to']
const envFile = values['env-file']
const inspectorPort = process.env['INSPECTOR_PORT']
if (!config || !persist || !envFile || !port)
  throw new Error('--config, --persist-to, --env-file and --port are given.')

/** Of benches, which measure the service and not the simulator's way to the network. */
const internet = {
  type: 'unsafe_internet' as const,
  dev: { plugin: { package: join(import.meta.dirname, 'internet-plugin.ts'), name: 'internet' } },
}

await unstable_startWorker({
  config,
  ...(program ? { entrypoint: program, bindings: { INTERNET: internet } } : {}),
  envFiles: [envFile],
  dev: {
    server: { hostname, port: Number(port) },
    inspector: inspectorPort ? { hostname, port: Number(inspectorPort) } : false,
    persist,
    remote: false,
    watch: true,
  },
})
