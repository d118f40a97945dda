import { parseArgs } from 'node:util'
import { root, wranglerProgram } from './support/paths.ts'
import { startNode } from './support/processes.ts'
import { verifyConsents } from './support/verify-consents.ts'

/**
 * Recomputes every hash chain of a database and names the first faulty record. By default it reads the local database of
 * `npm start`. With `--remote` it reads the database of wrangler.toml at Cloudflare.
 */
const { values } = parseArgs({
  options: { remote: { type: 'boolean', default: false }, state: { type: 'string', default: '.wrangler/state' } },
})

async function query<Row>(sql: string): Promise<Row[]> {
  const place = values.remote ? ['--remote'] : ['--local', '--persist-to', values.state]
  let output = ''
  const args = [wranglerProgram, 'd1', 'execute', 'DB', ...place, '--json', '--command', sql]
  const { code } = await startNode(args, {
    env: { NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false' },
    onOutput: (text) => (output += text),
  }).ended
  if (code !== 0) throw new Error(output)
  const [result] = JSON.parse(output.slice(output.indexOf('['))) as { results: Row[] }[]
  return result?.results ?? []
}

process.chdir(root)
const { records, chains, fault } = await verifyConsents(query)
console.log(fault ?? `${records} records in ${chains} chains fit.`)
process.exitCode = fault === null ? 0 : 1
