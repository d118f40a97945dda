import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './support/paths.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations, routers } = await import('../src/app.ts')
const { openApiDocument } = await import('../src/http/openapi.ts')
const { buildOperationTable, buildTypes } = await import('./support/documents/client-files.ts')

const files = {
  'schema.ts': await buildTypes(openApiDocument(routers)),
  'operations.ts': buildOperationTable(operations),
}

for (const [name, text] of Object.entries(files)) {
  const path = join(root, 'packages', 'client', 'src', 'generated', name)
  if (!process.argv.includes('--check')) {
    await writeFile(path, text)
    continue
  }
  if ((await readFile(path, 'utf8').catch(() => null)) === text) continue
  console.error(`packages/client/src/generated/${name} is out of date: run \`npm run client\`.`)
  process.exitCode = 1
}
