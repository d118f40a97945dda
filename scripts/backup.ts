import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { backUp } from './support/backup.ts'

const usage =
  'Usage: STATE_DIR=<folder of the server> npm run backup -- <folder of the backup, which does not exist yet>'

async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [target, ...others] = positionals
  const { STATE_DIR: stateDir } = process.env
  if (!target || others.length > 0) throw new Error(usage)
  if (!stateDir) throw new Error(`STATE_DIR is not set.\n${usage}`)
  process.umask(0o077)
  const { databases, files, bytes, lostFiles } = await backUp(resolve(stateDir), resolve(target))
  const size = (bytes / 1_000_000).toFixed(1)
  console.log(`${target} has ${databases} databases and the bytes of ${files} files, ${size} MB in total.`)
  if (lostFiles > 0) console.log(`${lostFiles} files were uploaded and deleted meanwhile, and are not in it.`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
