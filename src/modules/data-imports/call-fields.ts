import type { Ctx } from '../../context.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { toIso } from '../../domain/time/instants.ts'

/** Builds the columns of `data_imports` that every import by a call has. `at` is the time of the call. */
export function buildCallFields(
  { caller }: Pick<Ctx, 'caller'>,
  edition: { id: string; organization_id: string },
  source: string,
  at: number,
) {
  const name = `${source} ${toIso(at)}`
  return {
    organization_id: edition.organization_id,
    edition_id: edition.id,
    account_id: caller.is_superuser ? null : caller.id,
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    source: 'api' as const,
    external_source: source,
  }
}
