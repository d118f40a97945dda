const parts = ['major', 'minor', 'patch'] as const

const parse = (version: string): number[] => version.split('.').map(Number)

/** True for three numbers, such as 1.2.3. */
export const isVersion = (text: string): boolean => /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(text)

export function compareVersions(one: string, other: string): number {
  const otherNumbers = parse(other)
  return (
    parse(one)
      .map((number, at) => number - (otherNumbers[at] ?? 0))
      .find((difference) => difference !== 0) ?? 0
  )
}

/** Returns the version that is asked for: the next patch, minor or major, or the version itself. Null for other words. */
export function chooseVersion(current: string, request: string): string | null {
  if (isVersion(request)) return request
  const place = parts.findIndex((part) => part === request)
  if (place < 0) return null
  return parse(current)
    .map((number, at) => (at < place ? number : at === place ? number + 1 : 0))
    .join('.')
}

interface Manifest {
  name?: string
  version?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  packages?: Record<string, Manifest>
}

function setVersion(manifest: Manifest, names: ReadonlySet<string>, version: string): void {
  manifest.version = version
  for (const dependencies of [manifest.dependencies, manifest.devDependencies])
    for (const name of Object.keys(dependencies ?? {}))
      if (dependencies && names.has(name)) dependencies[name] = version
}

/** Sets the version of the project and of its packages in their files, by path, and in the lock file. */
export function setVersions(files: ReadonlyMap<string, string>, version: string): Map<string, string> {
  const manifests = new Map([...files].map(([path, text]) => [path, JSON.parse(text) as Manifest]))
  const names = new Set([...manifests.values()].map(({ name = '' }) => name))
  for (const manifest of manifests.values()) {
    setVersion(manifest, names, version)
    for (const [path, part] of Object.entries(manifest.packages ?? {}))
      if (!path.includes('node_modules/')) setVersion(part, names, version)
  }
  return new Map([...manifests].map(([path, manifest]) => [path, `${JSON.stringify(manifest, null, 2)}\n`]))
}
