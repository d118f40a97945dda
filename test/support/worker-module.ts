/** The part of vitest that loads modules in workerd. It asks the process that runs the tests at each import. */
interface ModuleRunner {
  import: (id: string) => Promise<unknown>
}

interface LoadedGlobals {
  __vitest_mocker__?: { moduleRunner: ModuleRunner }
}

/** The Worker's entry, which each request of a test imports. */
const isEntry = (id: string): boolean => id.endsWith('/src/index.ts')

/** Loads the Worker once for a file of tests instead of once for each request. */
export function keepWorker(): void {
  // oxlint-disable-next-line eslint/no-underscore-dangle -- vitest's name
  const { moduleRunner } = (globalThis as LoadedGlobals).__vitest_mocker__ ?? {}
  if (!moduleRunner) throw new Error('vitest loads modules in another way than it did')
  const { import: load } = Object.getPrototypeOf(moduleRunner) as ModuleRunner
  let entry: unknown
  moduleRunner.import = async (id) => {
    if (!isEntry(id)) return load.call(moduleRunner, id)
    entry ??= await load.call(moduleRunner, id)
    return entry
  }
}
