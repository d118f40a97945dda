import { parseArgs } from 'node:util'
import { refuseNpmOptions } from './support/npm-options.ts'
import { root } from './support/paths.ts'
import { describeObjects } from './support/verify/campaigns.ts'
import { verifyConsents } from './support/verify/consents.ts'
import { formatOutgoing } from './support/verify/outgoing.ts'
import { openPlace, type Place } from './support/verify/place.ts'
import { formatFinding, listChecks, summarize } from './support/verify/verify.ts'

/**
 * Compares a database with itself, and lists what goes out when `OUTGOING` is released. It changes nothing. By default it
 * reads the state of `npm start`. With `--remote` it reads the database of wrangler.toml at Cloudflare.
 */
const options = {
  remote: { type: 'boolean', default: false },
  env: { type: 'string' },
  state: { type: 'string' },
  consents: { type: 'boolean', default: false },
} as const
const { values } = parseArgs({ options })

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line)
}

async function listWaiting({ query, readObjects }: Place): Promise<void> {
  const outgoing = await formatOutgoing(query)
  print([
    'What goes out when OUTGOING is released:',
    ...(outgoing.length ? outgoing : ['nothing']).map((line) => `  ${line}`),
    '',
  ])
  const lines = typeof readObjects === 'string' ? [readObjects] : await describeObjects(query, readObjects)
  print([
    'What the objects of campaigns have sent, and the database does not know:',
    ...(lines.length ? lines : ['nothing']).map((line) => `  ${line}`),
    '',
  ])
}

process.chdir(root)
try {
  refuseNpmOptions('verify', Object.keys(options))
  const place = await openPlace(values)
  let faultCount = 0
  let isComplete = true
  const report = (finding: Parameters<typeof formatFinding>[0]) => {
    faultCount += finding.faultCount
    if (finding.limitation !== null) isComplete = false
    print(formatFinding(finding))
  }
  if (values.consents) report(await verifyConsents(place.query, place.size))
  else {
    await listWaiting(place)
    if (typeof place.readObjects === 'string') isComplete = false
    for (const { run } of listChecks(place)) for (const finding of await run()) report(finding)
  }
  const { line, exitCode } = summarize(faultCount, isComplete)
  print(['', line])
  process.exitCode = exitCode
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
