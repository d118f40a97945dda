import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './support/paths.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations, routers } = await import('../src/app.ts')
const { openApiDocument } = await import('../src/http/openapi.ts')
const { buildOperationTable, buildRoles, buildTypes } = await import('./support/documents/client-files.ts')

const files = {
  'packages/client/src/generated/schema.ts': await buildTypes(openApiDocument(routers)),
  'packages/client/src/generated/operations.ts': buildOperationTable(operations),
  'packages/console/src/generated/roles.ts': buildRoles(operations),
}

for (const [name, text] of Object.entries(files)) {
  const path = join(root, name)
  if (!process.argv.includes('--check')) {
    await writeFile(path, text)
    continue
  }
  if ((await readFile(path, 'utf8').catch(() => null)) === text) continue
  console.error(`${name} is out of date: run \`npm run client\`.`)
  process.exitCode = 1
}
