//! Redirects are never followed on their own; this says what each one means.

use super::address::Server;
use super::error::Kind;
use url::Url;

/// What a redirect from `asked` means.
///
/// * to another configured ResourceManager: this one is in standby, that one is active
/// * without `Location` (a standby that finds no active one sends `Refresh` instead): no way to go
/// * to a job's page in a JobHistoryServer: the application has finished
/// * to the application's page, or back to the proxy: its master is not served
/// * anywhere else: a foreign host, refused
pub fn judge(asked: &Url, location: Option<&str>, has_refresh: bool, rms: &[Server]) -> Kind {
    let Some(location) = location.map(str::trim).filter(|l| !l.is_empty()) else {
        return if has_refresh { Kind::Standby { active: None } } else { Kind::RedirectWithoutLocation };
    };
    let Ok(target) = asked.join(location) else { return Kind::ForeignRedirect(shorten(location)) };
    // These two are told by their path alone: the servers may call themselves otherwise than they are addressed, and
    // nothing is followed.
    if target.path().starts_with("/jobhistory/") {
        return Kind::AppFinished;
    }
    let app =
        asked.path().strip_prefix("/proxy/").and_then(|rest| rest.split('/').next()).filter(|app| !app.is_empty());
    if app.is_some_and(|app| target.path() == format!("/cluster/app/{app}")) {
        return Kind::AppNotServed;
    }
    let (Some(from), Some(to)) = (Server::of(asked), Server::of(&target)) else {
        return Kind::ForeignRedirect(shorten(location));
    };
    if app.is_some() && to == from && target.path().starts_with("/proxy/") {
        return Kind::ProxyLoop;
    }
    let is_rm = to == from || rms.contains(&to);
    if is_rm && to != from {
        return Kind::Standby { active: Some(to) };
    }
    Kind::ForeignRedirect(shorten(target.as_str()))
}

fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, location: Option<&str>, refresh: bool) -> Kind {
        let rms = ["rm1:8088", "rm2:8088"].map(|s| Server::parse(s, "http").unwrap());
        judge(&Url::parse("http://rm1:8088").unwrap().join(path).unwrap(), location, refresh, &rms)
    }

    #[test]
    fn only_a_configured_resource_manager_is_taken_for_the_active_one() {
        let rm2 = Server::parse("rm2:8088", "http").unwrap();
        let to = |location| judged("/ws/v1/cluster/apps", Some(location), false);
        assert_eq!(to("http://rm2:8088/ws/v1/cluster/apps"), Kind::Standby { active: Some(rm2) });
        for foreign in
            ["http://rm2:9999/ws/v1/cluster/apps", "http://evil/ws/v1/cluster/apps", "https://rm1:8090/", "//evil/x"]
        {
            assert_eq!(to(foreign).label(), "foreign_redirect", "{foreign}");
        }
        assert_eq!(to("/login").label(), "foreign_redirect");
    }

    #[test]
    fn a_redirect_that_leads_nowhere_is_named_for_what_it_is() {
        assert_eq!(judged("/ws/v1/cluster/apps", None, true), Kind::Standby { active: None });
        assert_eq!(judged("/ws/v1/cluster/apps", None, false), Kind::RedirectWithoutLocation);
        assert_eq!(judged("/ws/v1/cluster/apps", Some(" "), false), Kind::RedirectWithoutLocation);
    }

    #[test]
    fn the_proxys_redirects_tell_a_finished_job_from_one_that_is_not_served() {
        let proxy = "/proxy/application_1_0001/ws/v1/mapreduce/jobs/job_1_0001";
        let to = |location| judged(proxy, Some(location), false);
        assert_eq!(to("http://jhs:19888/jobhistory/job/job_1_0001/ws/v1/mapreduce"), Kind::AppFinished);
        assert_eq!(to("http://rm1:8088/cluster/app/application_1_0001"), Kind::AppNotServed);
        assert_eq!(
            to("http://rm1.example.com:8088/cluster/app/application_1_0001"),
            Kind::AppNotServed,
            "by its other name"
        );
        assert_eq!(to("http://evil:80/cluster/app/application_1_0002").label(), "foreign_redirect");
        assert_eq!(to("http://rm1:8088/proxy/application_1_0001/ws/v1/mapreduce"), Kind::ProxyLoop);
        assert_eq!(to("http://evil:80/proxy/application_1_0001").label(), "foreign_redirect");
    }
}
