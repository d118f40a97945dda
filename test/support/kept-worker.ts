/** The part of vitest that loads modules in workerd: it asks the process that runs the tests, at each import. */
interface ModuleRunner {
  import: (id: string) => Promise<unknown>
}

interface Loaded {
  __vitest_mocker__?: { moduleRunner: ModuleRunner }
}

/** The entry of the Worker, which is imported for each request that a test makes. */
const isEntry = (id: string): boolean => id.endsWith('/src/index.ts')

/** Loads the Worker once for a file of tests instead of once for each of its requests. */
export function keepWorker(): void {
  // oxlint-disable-next-line eslint/no-underscore-dangle -- vitest's name
  const { moduleRunner } = (globalThis as Loaded).__vitest_mocker__ ?? {}
  if (!moduleRunner) throw new Error('vitest loads modules in another way than it did')
  const { import: load } = Object.getPrototypeOf(moduleRunner) as ModuleRunner
  let entry: unknown
  moduleRunner.import = async (id) => {
    if (!isEntry(id)) return load.call(moduleRunner, id)
    entry ??= await load.call(moduleRunner, id)
    return entry
  }
}
