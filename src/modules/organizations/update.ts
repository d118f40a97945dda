import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { changesIn, isEmpty, updateVersion } from '../../db/write.ts'
import { searchText } from '../../domain/fold.ts'
import type { UpdateOrganizationInput } from './contract.ts'
import { slugTaken } from './create.ts'
import type { OrganizationRow } from './queries.ts'

export function updateOrganization(
  ctx: Ctx,
  row: OrganizationRow,
  input: UpdateOrganizationInput,
): Promise<OrganizationRow> {
  const asked = changesIn(row, { name: input.name ?? row.name, slug: input.slug ?? row.slug })
  if (isEmpty(asked)) return commit(ctx, row, [])
  const changes = { ...asked, search: searchText(asked.name ?? row.name), modified_at: ctx.now() }
  return commit(ctx, { ...row, ...changes, version: row.version + 1 }, updateVersion(organizations, row, changes), {
    'organizations.slug': slugTaken,
  })
}
