import * as campaign from './bench/campaign.ts'
import * as email from './bench/email.ts'
import * as files from './bench/files.ts'
import * as importCase from './bench/import.ts'
import * as orders from './bench/orders.ts'
import * as segments from './bench/segments.ts'
import * as webhooks from './bench/webhooks.ts'

/** Each case measures the service beside a floor: the same work by the bare platform, in the same run. */
const cases: Record<string, { summary: string; run: () => Promise<void> }> = {
  orders,
  import: importCase,
  campaign,
  webhooks,
  segments,
  email,
  files,
}

const [name = ''] = process.argv.slice(2)
const chosen = Object.hasOwn(cases, name) ? cases[name] : undefined
if (chosen) await chosen.run()
else {
  if (name) {
    console.error(`There is no case ${name}.`)
    process.exitCode = 1
  }
  console.log('npm run bench -- <case>\n')
  for (const [title, { summary }] of Object.entries(cases)) console.log(`${title.padEnd(10)} ${summary}`)
}
