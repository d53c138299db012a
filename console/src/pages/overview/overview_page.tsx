import { PageHeader } from '../../shared/states/page_header'

/** What is called, what fails and what needs attention. */
export function OverviewPage() {
  return <PageHeader title="Overview" />
}
