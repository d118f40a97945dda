import { posix } from 'node:path'

/** The slices that each slice imports. */
export type SliceImports = ReadonlyMap<string, ReadonlySet<string>>

const parseSlice = (path: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(path)?.[1]

/** Reads the imports between slices from their sources. */
export function readSliceImports(sources: Iterable<readonly [path: string, text: string]>): SliceImports {
  const imports = new Map<string, Set<string>>()
  for (const [path, text] of sources) {
    const slice = parseSlice(path)
    if (slice === undefined) continue
    const own = imports.get(slice) ?? new Set<string>()
    imports.set(slice, own)
    for (const [, target = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const other = parseSlice(posix.join(posix.dirname(path), target))
      if (other !== undefined && other !== slice) own.add(other)
    }
  }
  return imports
}

function listReachable(imports: SliceImports, from: string, found = new Set<string>()): Set<string> {
  for (const next of imports.get(from) ?? []) {
    if (found.has(next)) continue
    found.add(next)
    listReachable(imports, next, found)
  }
  return found
}

/** Leaves out imports that a longer path implies. */
export function reduceImports(imports: SliceImports): SliceImports {
  return new Map(
    [...imports].map(([slice, targets]) => {
      const implied = new Set([...targets].flatMap((target) => [...listReachable(imports, target)]))
      return [slice, new Set([...targets].filter((target) => !implied.has(target)))]
    }),
  )
}

const sortImports = (imports: SliceImports): [string, string[]][] =>
  [...imports].map(([slice, targets]): [string, string[]] => [slice, [...targets].toSorted()]).toSorted()

/** Draws a diagram of the slices. */
export function drawSlices(imports: SliceImports): string {
  const edges = sortImports(reduceImports(imports)).map(([slice, targets]) =>
    targets.length ? `  ${slice} --> ${targets.join(' & ')}` : `  ${slice}`,
  )
  return ['```mermaid', 'graph TD', ...edges, '```'].join('\n')
}
