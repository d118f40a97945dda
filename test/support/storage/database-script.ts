import { join } from 'node:path'
import { rolldown } from 'rolldown'

let script: Promise<string> | undefined

async function build(): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'database-worker.ts'),
    external: /^cloudflare:/,
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

/** The Worker of `TestDatabase` as JavaScript. It is built once for all isolates of a run. */
export const databaseScript = (): Promise<string> => (script ??= build())
