import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../paths.ts'

export const listSchemaFiles = (): Promise<string[]> => Array.fromAsync(glob('src/db/schema/**/*.ts', { cwd: root }))

/** Says which files of `src/db/schema` are not as the migrations and the types of columns make them. */
export async function findStaleFiles(schema: ReadonlyMap<string, string>): Promise<string[]> {
  const paths = new Set([...(await listSchemaFiles()), ...schema.keys()])
  const messages = await Promise.all(
    [...paths].toSorted().map(async (path) => {
      const text = await readFile(join(root, path), 'utf8').catch(() => undefined)
      return text === schema.get(path) ? [] : [`${path} is stale. Run: npm run schema`]
    }),
  )
  return messages.flat()
}
