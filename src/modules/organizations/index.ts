export { findOrganization, type LoadedOrganization } from './queries.ts'
export {
  type OrganizationSummaryRow,
  organizationSummaryFields,
  presentOrganizationOrNull,
  presentOrganizationSummary,
} from './summary.ts'
