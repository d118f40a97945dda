import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..')

it('the example of the README prints what stands below it', async () => {
  const page = readFileSync(join(folder, 'README.md'), 'utf8')
  const [, code = '', output] = /```ts\n(.*?)```\n+```text\n(.*?)```/s.exec(page) ?? []
  const options = ['--no-warnings', '--input-type=module-typescript', '--eval', code]
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: folder })
  expect(stdout).toBe(output)
})
