import { canAsk, choose } from './ask.ts'
import type { Context } from './context.ts'
import { UsageError } from './errors.ts'

interface Organization {
  id: string
  name: string
}

const maxChoices = 20

async function listOrganizations({ client }: Context): Promise<readonly Organization[]> {
  const { data: user } = await client.GET('/v1/auth/user-info')
  if (user.organizations.length > 0) return user.organizations
  // The superuser has no roles and sees all organisations.
  const { data: page } = await client.GET('/v1/organizations', { params: { query: { page_size: maxChoices } } })
  return page.results
}

/** Finds the organisation that a command is about. A person with several of them chooses one. */
export async function findOrganization(
  context: Context,
  { organization, edition }: { organization?: string; edition?: string },
): Promise<string> {
  if (organization !== undefined) return organization
  if (edition !== undefined) {
    const { data } = await context.client.GET('/v1/editions/{id}', { params: { path: { id: edition } } })
    return data.organization.id
  }
  const organizations = await listOrganizations(context)
  const [first, ...others] = organizations
  if (first === undefined) throw new UsageError('You have no organisation.')
  if (others.length === 0) return first.id
  if (!canAsk())
    throw new UsageError(`Choose one of your organisations with --organization, such as ${first.id} (${first.name}).`)
  const choices = organizations.map(({ id, name }) => ({ value: id, label: name, hint: id }))
  return choose('Which organisation?', choices)
}
