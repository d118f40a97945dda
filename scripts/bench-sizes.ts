import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/paths.ts'

/** The bench over databases of several sizes, one after the other: what grows with the orders shows in the rows read. */
const sizes = (process.env['SIZES'] ?? '10000,100000,1000000').split(',').map(Number)

function run(script: string, env: Record<string, string>): Promise<void> {
  const program = spawn(process.execPath, [join(root, 'scripts', script), ...process.argv.slice(2)], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    program.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}.`))))
  })
}

for (const size of sizes) {
  const folder = join(root, '.wrangler', `bench-${size}`)
  const env = { BENCH_STATE_DIR: folder, ORDERS: String(size) }
  if (!existsSync(join(folder, 'bench.json'))) await run('bench-fill.ts', env)
  await run('bench.ts', env)
}
