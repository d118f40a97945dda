import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { exportDatabase } from './support/export/export.ts'
import { refuseNpmOptions } from './support/npm-options.ts'
import { root } from './support/paths.ts'
import { openPlace } from './support/verify/place.ts'

/**
 * Writes a database into a file of SQL statements, which create it in an empty one. It only reads, and takes nothing away
 * from a database that serves. With `--remote` it reads the database of wrangler.toml at Cloudflare.
 */
const options = {
  remote: { type: 'boolean', default: false },
  env: { type: 'string' },
  state: { type: 'string' },
  output: { type: 'string' },
} as const
const { values } = parseArgs({ options })

/** Rows of orders and messages can have many kilobytes. */
const rowsAtOnce = 2000

async function main(output: string): Promise<void> {
  const draft = `${output}.part`
  const { query } = await openPlace(values)
  const file = openSync(draft, 'w', 0o600)
  try {
    const write = (statement: string) => void writeSync(file, `${statement}\n`)
    const count = await exportDatabase({ query, write, size: rowsAtOnce })
    closeSync(file)
    renameSync(draft, output)
    console.log(
      `${output} has ${count.toLocaleString('en')} rows. It contains personal data: store it like the database.`,
    )
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

const { output } = values
const file = output === undefined ? null : resolve(process.env['INIT_CWD'] ?? '.', output)
process.chdir(root)
try {
  refuseNpmOptions('export', Object.keys(options))
  if (file === null) throw new Error('Name the file: npm run export -- --remote --output backup.sql')
  await main(file)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error('No file was written, and the database is as it was.')
  process.exitCode = 1
}
