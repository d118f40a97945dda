export { findOrganization } from './queries.ts'
export {
  type OrganizationSummaryRow,
  organizationSummaryFields,
  organizationSummaryOf,
  presentOrganizationOrNull,
  presentOrganizationSummary,
} from './summary.ts'
