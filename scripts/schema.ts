import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { types } from '../src/db/column-types.ts'
import { root } from './support/paths.ts'
import { findStaleFiles, listSchemaFiles } from './support/schema/compare-files.ts'
import { readMigrations } from './support/schema/read-tables.ts'
import { buildSchema } from './support/schema/write-tables.ts'

const schema = await buildSchema(await readMigrations(), types)

if (process.argv.includes('--check')) {
  for (const message of await findStaleFiles(schema)) {
    console.error(message)
    process.exitCode = 1
  }
} else {
  for (const path of await listSchemaFiles()) if (!schema.has(path)) await rm(join(root, path))
  for (const [path, text] of schema) await writeFile(join(root, path), text)
}
