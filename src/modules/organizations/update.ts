import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { updateVersion } from '../../db/write.ts'
import { searchText } from '../../domain/fold.ts'
import type { UpdateOrganizationInput } from './contract.ts'
import { slugTaken } from './create.ts'
import type { OrganizationRow } from './queries.ts'

export function updateOrganization(
  ctx: Ctx,
  row: OrganizationRow,
  input: UpdateOrganizationInput,
): Promise<OrganizationRow> {
  const name = input.name ?? row.name
  const changes = { name, slug: input.slug ?? row.slug, search: searchText(name), modified_at: ctx.now() }
  return commit(ctx, { ...row, ...changes, version: row.version + 1 }, updateVersion(organizations, row, changes), {
    'organizations.slug': slugTaken,
  })
}
