import { posix } from 'node:path'

/** The slices that each slice imports. */
export type SliceImports = ReadonlyMap<string, ReadonlySet<string>>

const sliceOf = (path: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(path)?.[1]

/** Reads the imports between slices out of their sources. */
export function sliceImports(sources: Iterable<readonly [path: string, text: string]>): SliceImports {
  const imports = new Map<string, Set<string>>()
  for (const [path, text] of sources) {
    const slice = sliceOf(path)
    if (slice === undefined) continue
    const own = imports.get(slice) ?? new Set<string>()
    imports.set(slice, own)
    for (const [, target = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const other = sliceOf(posix.join(posix.dirname(path), target))
      if (other !== undefined && other !== slice) own.add(other)
    }
  }
  return imports
}

function reachable(imports: SliceImports, from: string, found = new Set<string>()): Set<string> {
  for (const next of imports.get(from) ?? []) {
    if (found.has(next)) continue
    found.add(next)
    reachable(imports, next, found)
  }
  return found
}

/** The imports without those that a longer way implies. */
export function reduced(imports: SliceImports): SliceImports {
  return new Map(
    [...imports].map(([slice, targets]) => {
      const implied = new Set([...targets].flatMap((target) => [...reachable(imports, target)]))
      return [slice, new Set([...targets].filter((target) => !implied.has(target)))]
    }),
  )
}

const sorted = (imports: SliceImports): [string, string[]][] =>
  [...imports].map(([slice, targets]): [string, string[]] => [slice, [...targets].toSorted()]).toSorted()

/** Draws a diagram of the slices. */
export function drawSlices(imports: SliceImports): string {
  const edges = sorted(reduced(imports)).map(([slice, targets]) =>
    targets.length ? `  ${slice} --> ${targets.join(' & ')}` : `  ${slice}`,
  )
  return ['```mermaid', 'graph TD', ...edges, '```'].join('\n')
}
