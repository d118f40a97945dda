import { useNavigate } from '@tanstack/react-router'

type Search = Record<string, unknown>

/** Changes the search parameters of the page, which are the state of its list. */
export function useSearchChange() {
  const navigate = useNavigate()
  const go = (change: (search: Search) => Search, replace: boolean) =>
    void navigate({ to: '.', search: change as never, replace })
  return {
    /** Another filter or order begins on the first page. */
    set: (part: Search) => go((search) => ({ ...search, page: undefined, cursor: undefined, ...part }), true),
    clear: () => go(({ ordering }) => ({ ordering }), true),
    /** Goes to the page of `next` or `previous`. */
    turn(address: string) {
      const { searchParams } = new URL(address)
      const page = Number(searchParams.get('page')) || undefined
      go((search) => ({ ...search, page, cursor: searchParams.get('cursor') ?? undefined }), false)
    },
  }
}
