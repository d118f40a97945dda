import type { Client, DataOf, Init, InitParam, PathsOf } from './client.ts'

interface Page<Item = unknown> {
  count: number
  next: string | null
  results: Item[]
}

/** The paths of lists. */
export type ListPath = {
  [Path in PathsOf<'get'>]: DataOf<'get', Path> extends { next: string | null; results: unknown[] } ? Path : never
}[PathsOf<'get'>]

export type ItemOf<Path extends ListPath> = DataOf<'get', Path> extends { results: (infer Item)[] } ? Item : never

/** Yields all items of a list, and loads the next page when it is needed. */
export async function* paginate<Path extends ListPath, Options extends Init<Path, 'get'>>(
  client: Client,
  path: Path,
  ...[init]: InitParam<Options>
): AsyncGenerator<ItemOf<Path>, void, undefined> {
  const get = client.GET as unknown as (path: string, init?: object) => Promise<{ data: Page<ItemOf<Path>> }>
  let { data } = await get(path, init)
  yield* data.results
  while (data.next !== null) {
    // `next` can have another host than the client, which must not get the token.
    const query = new URL(data.next).searchParams.toString()
    ;({ data } = await get(path, { ...init, querySerializer: () => query }))
    yield* data.results
  }
}
